/**
 * Threads that judge what strangers have written (values by schemas, messages by conditions), away from the event loop,
 * and the line before them.
 *
 * H1. A question that takes a thread longer than `checkMs` of processor time, or than `wallMs` by the clock, is late:
 *     its thread is ended and replaced, and the question is answered with `slow`. What a thread does in one step of its
 *     engine (the making of a pattern, say) cannot be cut short: until it has really ended its workspace pays, and is
 *     asked nothing more.
 * H2. A question whose thread dies is asked once more, of another; then it is answered with `broken`.
 * H3. Questions wait in a fair line (FairQueue.ts), for `lineMs` at most: then they are answered with `busy`. A
 *     workspace pays for the processor time of its questions, and for the start of a thread in place of one that it was
 *     late on.
 * H4. Threads are started when first needed, do not keep the process alive, and are ended without being waited for.
 */
import { Worker } from "node:worker_threads"
import { type Allowance, FairQueue } from "./FairQueue.ts"

export interface ThreadLimits {
  readonly threads: number
  readonly checkMs: number
  readonly wallMs: number
  readonly lineMs: number
  readonly budget: Allowance
}

/** Why there is no judgement. */
export type Without = "slow" | "busy" | "broken"
export type Judgement<Answer> = { readonly answer: Answer } | { readonly without: Without }

/** What a thread says: first of all that it is ready, without an answer, then an answer to each question. */
export interface ThreadWord<Answer> {
  readonly answer?: Answer
  /** Processor time of this thread since it began, in milliseconds. */
  readonly cpuMs: number
}

/** What became of it, for those who count. */
interface Watcher {
  readonly waiting: (count: number) => void
  readonly spent: (ms: number) => void
  /** A thread ended that nobody had ended. */
  readonly died: (cause: unknown) => void
}

interface QueuedCheck<Question, Answer> {
  /** Who pays for it, and waits in one line. */
  readonly payer: string
  readonly question: Question
  readonly answer: (judgement: Judgement<Answer>) => void
  /** A thread has died over it. */
  died?: true
  patience?: NodeJS.Timeout
}

/** What is held in memory of a thread; more of strangers' doing ends it. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }
/** Pause after a thread that died before it could be asked anything. */
const restartMs = 1_000
/** Timers of more than 24 days go off at once. */
const longestMs = 60_000
class Thread<Question, Answer> {
  readonly worker: Worker
  isReady = false
  /** Processor time that its start took, and all that it has told of. */
  startMs = 0
  cpuMs = 0
  check: QueuedCheck<Question, Answer> | undefined
  askedAt = 0
  timer: NodeJS.Timeout | undefined

  constructor(program: URL) {
    this.worker = new Worker(program, {
      name: "judging",
      env: {},
      argv: [],
      resourceLimits,
      // Nothing but reading its own code, and that only until it is loaded (S1).
      execArgv: ["--permission", "--allow-fs-read=*"]
    })
    this.worker.unref()
  }
}

export class JudgingThreads<Question, Answer> {
  private readonly limits: ThreadLimits
  private readonly watcher: Watcher
  private readonly program: URL
  private readonly queue: FairQueue<QueuedCheck<Question, Answer>>
  private readonly threads = new Set<Thread<Question, Answer>>()
  private closed = false
  /** Before that no thread is started. */
  private restartAt = 0
  private wake: NodeJS.Timeout | undefined

  /** `program`: what a thread runs. */
  constructor(limits: ThreadLimits, watcher: Watcher, program: URL) {
    this.limits = limits
    this.watcher = watcher
    this.program = program
    this.queue = new FairQueue(limits.budget)
  }

  /** Answers once, and never at once; what it gives back withdraws the question. */
  ask(payer: string, question: Question, answer: QueuedCheck<Question, Answer>["answer"]): () => void {
    const check: QueuedCheck<Question, Answer> = { payer, question, answer }
    if (this.closed) {
      setImmediate(answer, { without: "broken" })
      return () => {}
    }
    this.queue.add(payer, check)
    this.wait(check)
    this.advance()
    return () => {
      clearTimeout(check.patience)
      if (this.queue.remove(payer, check)) this.watcher.waiting(this.queue.size)
    }
  }

  /** Ends all threads: nobody is left to judge. */
  close() {
    this.closed = true
    clearTimeout(this.wake)
    const left = this.queue.clear()
    for (const thread of this.threads) {
      if (thread.check !== undefined) left.push(thread.check)
      void this.end(thread)
    }
    for (const check of left) {
      clearTimeout(check.patience)
      check.answer({ without: "broken" })
    }
  }

  private wait(check: QueuedCheck<Question, Answer>) {
    check.patience = setTimeout(() => {
      if (!this.queue.remove(check.payer, check)) return
      this.watcher.waiting(this.queue.size)
      check.answer({ without: "busy" })
    }, this.limits.lineMs).unref()
  }

  /** Gives work to whoever is free. */
  private advance() {
    if (this.closed) return
    const now = performance.now()
    for (const thread of this.threads) {
      if (!thread.isReady || thread.check !== undefined) continue
      const check = this.queue.next(now)
      if (check === undefined) break
      this.give(thread, check, now)
    }
    this.watcher.waiting(this.queue.size)
    const pauseMs = this.queue.pauseMs(now)
    if (pauseMs === undefined) return
    if (pauseMs > 0) return this.advanceIn(pauseMs)
    // Something could start, and nobody is free to take it.
    if (this.threads.size >= this.limits.threads || [...this.threads].some(({ isReady }) => !isReady)) return
    if (now < this.restartAt) return this.advanceIn(this.restartAt - now)
    this.start()
  }

  private advanceIn(ms: number) {
    clearTimeout(this.wake)
    this.wake = setTimeout(() => this.advance(), Math.min(ms, longestMs)).unref()
  }

  private give(thread: Thread<Question, Answer>, check: QueuedCheck<Question, Answer>, now: number) {
    clearTimeout(check.patience)
    thread.check = check
    thread.askedAt = now
    thread.timer = setTimeout(() => this.look(thread, check), this.limits.checkMs)
    thread.worker.postMessage(check.question)
  }

  private start() {
    const thread = this.begin()
    if (thread === undefined) return
    this.threads.add(thread)
    let cause: unknown
    thread.worker.on("message", (word: ThreadWord<Answer>) => this.hear(thread, word))
    thread.worker.on("error", (error) => {
      cause = error
    })
    thread.worker.on("exit", (code) => this.bury(thread, cause ?? `it ended with code ${code}`))
  }

  /** A machine that has no thread left to give is no reason for the node to end. */
  private begin() {
    try {
      return new Thread<Question, Answer>(this.program)
    } catch (cause) {
      this.watcher.died(cause)
      this.restartAt = performance.now() + restartMs
      this.advanceIn(restartMs)
      return undefined
    }
  }

  private hear(thread: Thread<Question, Answer>, { answer, cpuMs }: ThreadWord<Answer>) {
    if (!this.threads.has(thread)) return
    const spent = cpuMs - thread.cpuMs
    thread.cpuMs = cpuMs
    const { check } = thread
    if (check === undefined || answer === undefined) {
      thread.isReady = true
      thread.startMs = cpuMs
    } else {
      this.free(thread, check, spent)
      check.answer({ answer })
    }
    this.advance()
  }

  /**
   * The time is up by the clock. On a busy machine that says nothing about a question: the thread is asked for its
   * processor time, which it tells in the middle of its work.
   */
  private look(thread: Thread<Question, Answer>, check: QueuedCheck<Question, Answer>) {
    const takenMs = () => performance.now() - thread.askedAt
    const left = () => this.limits.wallMs - takenMs()
    // One that does not even tell its time is in a step that nobody can interrupt, and has worked all along.
    thread.timer = setTimeout(() => this.giveUp(thread, check, takenMs()), Math.max(0, left()))
    // A Node before 24 cannot tell: the clock decides.
    if (!("cpuUsage" in thread.worker)) return
    const judgeSpent = ({ system, user }: NodeJS.CpuUsage) => {
      if (thread.check !== check || !this.threads.has(thread)) return
      const spentMs = (system + user) / 1_000 - thread.cpuMs
      const restMs = this.limits.checkMs - spentMs
      if (restMs <= 0) return this.giveUp(thread, check, spentMs)
      clearTimeout(thread.timer)
      thread.timer = setTimeout(() => this.look(thread, check), Math.max(0, Math.min(Math.max(restMs, 5), left())))
    }
    // One that has ended meanwhile is buried when its end is told.
    thread.worker.cpuUsage().then(judgeSpent, () => {})
  }

  private giveUp(thread: Thread<Question, Answer>, check: QueuedCheck<Question, Answer>, spentMs: number) {
    if (thread.check !== check || !this.threads.has(thread)) return
    const at = performance.now()
    void this.end(thread).then(() => {
      this.free(thread, check, spentMs + thread.startMs + performance.now() - at)
      this.advance()
    })
    this.start()
    check.answer({ without: "slow" })
    this.advance()
  }

  /** A thread has ended. Those that were ended here are not there any more. */
  private bury(thread: Thread<Question, Answer>, cause: unknown) {
    if (!this.threads.delete(thread)) return
    this.watcher.died(cause)
    if (!thread.isReady) this.restartAt = performance.now() + restartMs
    const { check } = thread
    if (check !== undefined) {
      this.free(thread, check, Math.min(this.limits.checkMs, performance.now() - thread.askedAt) + thread.startMs)
      if (check.died === true) check.answer({ without: "broken" })
      else {
        check.died = true
        this.queue.addAgain(check.payer, check)
        this.wait(check)
      }
    }
    this.advance()
  }

  /** What a thread was asked is over, and has cost so much. */
  private free(thread: Thread<Question, Answer>, check: QueuedCheck<Question, Answer>, ms: number) {
    clearTimeout(thread.timer)
    thread.check = undefined
    this.queue.done(check.payer, ms, performance.now())
    this.watcher.spent(ms)
  }

  private end(thread: Thread<Question, Answer>) {
    clearTimeout(thread.timer)
    this.threads.delete(thread)
    return thread.worker.terminate()
  }
}
