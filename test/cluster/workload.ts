/**
 * Clients of all kinds at work on many threads in three workspaces, all from one seed: users who queue,
 * steer, interrupt, edit, remove and cancel; workers who answer calls; approvers; readers; followers of
 * streams; strangers who try other workspaces' ids.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { field, listIn } from "../../src/cli/client.ts"
import { Watcher } from "../http/sse.ts"
import { randomOf } from "../process/Mixed.ts"
import { Caller } from "./Caller.ts"
import type { Cluster, Workspace } from "./Cluster.ts"
import { askApproval } from "./clients/asker.ts"
import { keepMemory } from "./clients/keeper.ts"
import { useLeases } from "./clients/lessee.ts"
import { reportNews } from "./clients/newsroom.ts"
import type { Office } from "./clients/office.ts"
import { spend } from "./clients/spender.ts"
import { History, type Sent, type ThreadHistory } from "./History.ts"

export interface WorkloadOptions {
  readonly seed: number
  readonly users?: number
  readonly probers?: number
  readonly sleepers?: number
  /** Whose turns call the tool that must not run twice, one step after the other. */
  readonly chargers?: number
  /** Who make a thread with every message. */
  readonly openers?: number
  /** The share of submits under an idempotency key. */
  readonly keyed?: number
  readonly followers?: number
  /** Whether agents have budgets, requests wait for approval, tool servers have leases, clients write memory, and there are newsrooms. */
  readonly governed?: boolean
  /** Mean pause of a user between steps. */
  readonly thinkMs?: number
}

const scripts = [
  "",
  "",
  "",
  "",
  "/wait 50ms",
  "/wait 200ms",
  "/wait 800ms",
  "/chunks 5 20ms",
  "/call nope {}",
  "/call nope {}\n/call neither {}\n/then\n/call more {}\n/wait 50ms",
  '/call desk.lookup {"q":1}',
  '/call desk.lookup {"q":1}\n/call desk.lookup {"q":2}',
  "/call desk.guarded {}",
  "/call desk.forgotten {}",
  "/call bank.charge {}",
  "/call bank.look {}\n/call bank.charge {}",
  "/fail model_error no"
]

/** Forty steps of a fifth of a second: a turn that always has a next event soon. */
const longScript = Array.from({ length: 40 }, () => "/wait 200ms\n/call nope {}").join("\n/then\n")

/** At any moment a model is being asked whose response calls the tool that must not run twice, or that tool runs. */
const chargingScript = Array.from({ length: 16 }, () => "/wait 250ms\n/call bank.charge {}").join("\n/then\n")

/** Two or three of these are more than a small window holds: what came before is summarised. */
const wordyScript = "word ".repeat(400)

/** A turn that is silent for longer than a takeover takes: whoever owned it before finds nothing changed. */
const sleepyScript = Array.from({ length: 4 }, () => "/wait 8s\n/call nope {}").join("\n/then\n")

const clientTool = (name: string, timeoutMs: number) => ({ name, inputSchema: { type: "object" }, timeoutMs })

interface Steady {
  readonly agentId: string
  readonly script: string
  readonly prober?: boolean
  readonly sleeper?: boolean
}

interface Stage {
  readonly workspace: Workspace
  readonly agentId: string
  readonly proberId: string
  /** Whose model has a small window. */
  readonly talkerId: string
  readonly toolsetId: string
}

export class Workload {
  readonly history = new History()
  readonly cluster: Cluster
  readonly seed: number
  readonly name: string
  readonly #options: Required<WorkloadOptions>
  readonly #random: () => number
  #working = true
  #reading = true
  #users: Array<Promise<void>> = []
  #helpers: Array<Promise<void>> = []
  #count = 0

  constructor(cluster: Cluster, options: WorkloadOptions) {
    this.cluster = cluster
    this.seed = options.seed
    this.name = `r${options.seed}`
    this.#options = {
      users: 60,
      probers: 12,
      sleepers: 6,
      chargers: 9,
      openers: 6,
      keyed: 0.85,
      followers: 6,
      governed: true,
      thinkMs: 1_500,
      ...options
    }
    this.#random = randomOf(options.seed)
  }

  #caller(workspace: Workspace) {
    return new Caller(this.cluster, workspace, this.history, randomOf(Math.floor(this.#random() * 2 ** 31)))
  }

  async start() {
    const stages = await Promise.all(this.cluster.workspaces.map((workspace) => this.#stage(workspace)))
    const { chargers, followers, openers, probers, sleepers, users } = this.#options
    const spread = (count: number, work: (stage: Stage, i: number) => Promise<void>) => {
      for (let i = 0; i < count; i++) {
        const stage = stages[i % stages.length]
        if (stage !== undefined) this.#users.push(work(stage, i))
      }
    }
    spread(users, (stage, i) => this.#user(stage, `u${i}`))
    spread(openers, (stage, i) => this.#opener(stage, `o${i}`))
    spread(probers, (stage, i) =>
      this.#steady(stage, `p${i}`, { agentId: stage.proberId, script: longScript, prober: true })
    )
    spread(sleepers, (stage, i) =>
      this.#steady(stage, `s${i}`, { agentId: stage.proberId, script: sleepyScript, prober: true, sleeper: true })
    )
    spread(chargers, (stage, i) => this.#steady(stage, `c${i}`, { agentId: stage.agentId, script: chargingScript }))
    for (const stage of stages) {
      for (const who of ["w1", "w2"]) this.#helpers.push(this.#worker(stage, who))
      this.#helpers.push(this.#approver(stage), this.#reader(stage), this.#stranger(stage))
    }
    for (let i = 0; i < followers; i++) {
      const stage = stages[i % stages.length]
      if (stage !== undefined) this.#helpers.push(this.#follower(stage))
    }
    for (const stage of stages) this.#helpers.push(this.#leaver(stage))
    if (this.#options.governed)
      for (const stage of stages) {
        const { talkerId, workspace } = stage
        this.#users.push(this.#steady(stage, "t0", { agentId: talkerId, script: wordyScript }))
        const office = this.#office(workspace)
        this.#users.push(spend(office), askApproval(office), useLeases(office), keepMemory(office), keepMemory(office))
        this.#users.push(reportNews(office))
      }
  }

  /** What a client complains of, as soon as it does. */
  failed(): Promise<never> {
    return Promise.race([...this.#users, ...this.#helpers].map((work) => work.then(() => new Promise<never>(() => {}))))
  }

  /** No new inputs; workers and readers go on. */
  async settle() {
    this.#working = false
    await Promise.all(this.#users)
  }

  async stop() {
    this.#working = false
    this.#reading = false
    await Promise.all([...this.#users, ...this.#helpers])
  }

  #office(workspace: Workspace): Office {
    const { cluster, history, name } = this
    const randomly = () => randomOf(Math.floor(this.#random() * 2 ** 31))
    return {
      cluster,
      history,
      workspace,
      name,
      caller: (key = workspace.key) => new Caller(cluster, workspace, history, randomly(), key),
      create: (caller, path, body, ...at) => this.#create(caller, path, body, ...at),
      next: () => `${name}.${this.#count++}`,
      working: () => this.#working
    }
  }

  async #create(caller: Caller, path: string, body: object, ...at: ReadonlyArray<string>) {
    const answer = await caller.ask("POST", path, body, { key: `${this.name}.${this.#count++}` })
    if (answer?.status !== 201) throw new Error(`POST ${path}: ${answer?.status} ${answer?.text}`)
    return field(answer.body, ...at)
  }

  async #stage(workspace: Workspace): Promise<Stage> {
    const caller = this.#caller(workspace)
    const words = `${workspace.canary} ${this.name}`
    const suffix = this.name.slice(0, 20)
    const desk = await this.#create(
      caller,
      "/v1/toolsets",
      {
        kind: "client",
        namespace: `desk${suffix}`,
        tools: [clientTool("lookup", 60_000), clientTool("guarded", 60_000), clientTool("forgotten", 10_000)]
      },
      "toolset",
      "id"
    )
    const bank = await this.#create(
      caller,
      "/v1/toolsets",
      { kind: "mcp", namespace: `bank${suffix}`, url: this.cluster.toolsUrl, trusted: true },
      "toolset",
      "id"
    )
    const profile = await this.#create(
      caller,
      "/v1/profiles",
      {
        name: words.slice(0, 100),
        models: ["troupe/scripted"],
        toolsetIds: [desk, bank],
        hooks: [
          {
            name: "guard",
            point: "before_tool_call",
            match: { tools: [`desk${suffix}.guarded`] },
            processor: { type: "client" },
            asyncTimeoutMs: 60_000
          }
        ]
      },
      "profile",
      "id"
    )
    const probing = await this.#create(
      caller,
      "/v1/profiles",
      { name: "probe", models: ["ledger/model"] },
      "profile",
      "id"
    )
    const talking = await this.#create(
      caller,
      "/v1/profiles",
      { name: "talk", models: ["troupe/scripted-small"] },
      "profile",
      "id"
    )
    return {
      workspace,
      toolsetId: desk,
      agentId: await this.#create(
        caller,
        "/v1/agents",
        { name: words.slice(0, 100), profileId: profile },
        "agent",
        "id"
      ),
      proberId: await this.#create(caller, "/v1/agents", { name: "probe", profileId: probing }, "agent", "id"),
      talkerId: await this.#create(caller, "/v1/agents", { name: "talk", profileId: talking }, "agent", "id")
    }
  }

  #known(caller: Caller, threadId: string, prober = false, sleeper = false) {
    const history: ThreadHistory = {
      workspace: caller.workspace.id,
      threadId,
      sent: [],
      mayBeGone: new Set(),
      unordered: new Set(),
      joins: new Map(),
      promised: new Map(),
      texts: new Map(),
      prober,
      sleeper,
      cleared: false
    }
    this.history.threads.set(threadId, history)
    return history
  }

  async #thread(caller: Caller, agentId: string, prober: boolean, sleeper = false) {
    return this.#known(
      caller,
      await this.#create(caller, "/v1/threads", { agentId, title: caller.workspace.canary }, "thread", "id"),
      prober,
      sleeper
    )
  }

  /** Births with what they begin: one that nobody has been told of is nobody's. */
  async #opener({ agentId, workspace }: Stage, who: string) {
    const caller = this.#caller(workspace)
    while (this.#working) {
      await sleep(caller.random() * this.#options.thinkMs)
      const label = this.#label(caller, who)
      const sent: Sent = { label, mode: "queue", began: performance.now(), outcome: "acknowledged" }
      const text = this.#textOf(label, scripts[Math.floor(caller.random() * scripts.length)] ?? "")
      const body = { agentId, title: workspace.canary, message: { content: [{ type: "text", text }] } }
      const keyed = caller.random() < this.#options.keyed
      const answer = await caller.ask("POST", "/v1/threads", body, {
        submit: true,
        ...(keyed ? { key: `${this.name}.${this.#count++}` } : { once: true })
      })
      if (answer?.status !== 201) continue
      const inputId = field(answer.body, "input", "id")
      const thread = this.#known(caller, field(answer.body, "thread", "id"))
      thread.sent.push({ ...sent, ended: answer.ended, inputId, state: field(answer.body, "input", "state") })
      thread.texts.set(inputId, new Set([label]))
    }
  }

  #label(caller: Caller, who: string) {
    return `${caller.workspace.canary} ${this.name} ${who} ${this.#count++}`
  }

  #textOf(label: string, script: string) {
    return `${label}\n${script.replaceAll(/\/call (desk|bank)\./g, `/call $1${this.name.slice(0, 20)}.`)}`
  }

  async #submit(caller: Caller, thread: ThreadHistory, who: string, mode: Sent["mode"], script: string) {
    const label = this.#label(caller, who)
    const sent: Sent = { label, mode, began: performance.now(), outcome: "unknown" }
    thread.sent.push(sent)
    const body = { content: [{ type: "text", text: this.#textOf(label, script) }], mode }
    const path = `/v1/threads/${thread.threadId}/messages`
    const key = `${this.name}.${this.#count++}`
    // Without a key a client must not try again what may have happened.
    const keyed = caller.random() < this.#options.keyed
    const answer = await caller.ask("POST", path, body, { submit: true, ...(keyed ? { key } : { once: true }) })
    sent.ended = performance.now()
    if (answer === undefined) return sent
    sent.outcome = answer.status === 201 ? "acknowledged" : "refused"
    if (answer.status !== 201) return sent
    const inputId = (sent.inputId = field(answer.body, "id"))
    sent.state = field(answer.body, "state")
    thread.texts.set(inputId, new Set([label]))
    if (sent.state === "steered") thread.joins.set(inputId, field(answer.body, "turnId"))
    if (sent.state === "admitted") thread.promised.set(inputId, Number(field(answer.body, "seq")))
    if (keyed && caller.random() < 0.1) {
      // A client that has not heard the answer asks again, perhaps at another node.
      const again = await caller.ask("POST", path, body, { key })
      if (again !== undefined && (again.status !== 201 || field(again.body, "id") !== inputId)) {
        this.history.problems.push(
          `J2: an input that was answered as ${inputId} is answered again as ${again.status} ${field(again.body, "id")}`
        )
      }
    }
    return sent
  }

  async #user({ agentId, workspace }: Stage, who: string) {
    const caller = this.#caller(workspace)
    const { random } = caller
    const pick = <A>(from: ReadonlyArray<A>) => from[Math.floor(random() * from.length)]
    await sleep(random() * this.#options.thinkMs)
    if (!this.#working) return
    const thread = await this.#thread(caller, agentId, false)
    const path = `/v1/threads/${thread.threadId}`
    while (this.#working) {
      const dice = random()
      const submit = (mode: Sent["mode"]) => this.#submit(caller, thread, who, mode, pick(scripts) ?? "")
      const some = thread.sent.slice(-4).flatMap(({ inputId }) => inputId ?? [])
      const inputId = pick(some)
      if (dice < 0.62 || inputId === undefined) await submit("queue")
      else if (dice < 0.72) await submit("steer")
      else if (dice < 0.77) await submit("interrupt")
      else if (dice < 0.82)
        for (const { inputId } of await Promise.all([submit("queue"), submit("queue")])) {
          if (inputId !== undefined) thread.unordered.add(inputId)
        }
      else if (dice < 0.87) {
        const label = this.#label(caller, who)
        const texts = thread.texts.get(inputId)
        const before = [...(texts ?? [])]
        texts?.add(label)
        const answer = await caller.ask("PATCH", `${path}/queue/${inputId}`, {
          content: [{ type: "text", text: label }]
        })
        if (answer?.status === 200) for (const text of before) texts?.delete(text)
        else if (answer?.tries === 1) texts?.delete(label)
      } else if (dice < 0.91) {
        thread.mayBeGone.add(inputId)
        await caller.ask("DELETE", `${path}/queue/${inputId}`)
      } else if (dice < 0.95) {
        thread.unordered.add(inputId)
        const key = `${this.name}.${this.#count++}`
        const answer = await caller.ask(
          "POST",
          `${path}/queue/${inputId}/promote`,
          { mode: random() < 0.5 ? "steer" : "interrupt" },
          { key }
        )
        if (answer?.status === 200 && field(answer.body, "state") === "steered")
          thread.joins.set(inputId, field(answer.body, "turnId"))
      } else {
        const clearQueue = random() < 0.3
        if (clearQueue) {
          thread.cleared = true
          for (const { inputId } of thread.sent) if (inputId !== undefined) thread.mayBeGone.add(inputId)
        }
        await caller.ask("POST", `${path}/cancel`, { clearQueue }, { key: `${this.name}.${this.#count++}` })
      }
      await sleep(random() * 2 * this.#options.thinkMs)
    }
  }

  /** One long turn after the other: of a prober on the model that counts its calls. */
  async #steady({ workspace }: Stage, who: string, { agentId, prober = false, script, sleeper = false }: Steady) {
    const caller = this.#caller(workspace)
    const thread = await this.#thread(caller, agentId, prober, sleeper)
    while (this.#working) {
      await this.#submit(caller, thread, who, "queue", script)
      for (let running = true; running && this.#working; ) {
        await sleep(500)
        const answer = await caller.ask("GET", `/v1/threads/${thread.threadId}`)
        running =
          answer !== undefined &&
          (field(answer.body, "status") === "running" || listIn(answer.body, "queued").length > 0)
      }
    }
    // The last one of a sleeper need not run to its end. The others' do: any command would bring back what has been
    // forgotten (L1).
    if (sleeper)
      await caller.ask("POST", `/v1/threads/${thread.threadId}/cancel`, {}, { key: `${this.name}.${this.#count++}` })
  }

  /** Executes calls of the client toolset; two of them race for each. */
  async #worker({ toolsetId, workspace }: Stage, who: string) {
    const caller = this.#caller(workspace)
    while (this.#reading) {
      const answer = await caller.ask("GET", `/v1/tools/calls?toolsetId=${toolsetId}&limit=50`)
      for (const call of listIn(answer?.body, "calls")) {
        if (field(call, "toolName").endsWith(".forgotten")) continue
        const mark = `${workspace.canary} ${who} ${this.#count++}`
        const given = await caller.ask("POST", `/v1/tools/calls/${field(call, "toolCallId")}/result`, {
          output: { mark }
        })
        if (given?.status === 200)
          this.history.answers.push({ threadId: field(call, "threadId"), waitId: field(call, "waitId"), mark })
      }
      await sleep(200 + caller.random() * 200)
    }
  }

  /** Decides what hooks ask clients. */
  async #approver({ workspace }: Stage) {
    const caller = this.#caller(workspace)
    const decided = new Set<string>()
    while (this.#reading) {
      const answer = await caller.ask("GET", "/v1/threads?state=waiting&limit=50")
      for (const row of listIn(answer?.body, "threads")) {
        for (const wait of listIn(row, "pendingWaits")) {
          // The same decision again would be accepted as the first one was.
          if (field(wait, "type") !== "hook_ask" || decided.has(field(wait, "id"))) continue
          decided.add(field(wait, "id"))
          const threadId = field(row, "thread", "id")
          const mark = `${workspace.canary} approver ${this.#count++}`
          const body = { type: "decision", decision: caller.random() < 0.7 ? "allow" : "deny", reason: mark }
          const given = await caller.ask("POST", `/v1/threads/${threadId}/waits/${field(wait, "id")}/resolve`, body)
          if (given?.status === 200) this.history.answers.push({ threadId, waitId: field(wait, "id"), mark })
        }
      }
      await sleep(400 + caller.random() * 400)
    }
  }

  #anyThread(workspace: string, random: () => number, own = true) {
    const all = [...this.history.threads.values()].filter((thread) => (thread.workspace === workspace) === own)
    return all[Math.floor(random() * all.length)]
  }

  /** Pages through logs, and looks how far they go. */
  async #reader({ workspace }: Stage) {
    const caller = this.#caller(workspace)
    while (this.#reading) {
      await sleep(100 + caller.random() * 200)
      const thread = this.#anyThread(workspace.id, caller.random)
      if (thread === undefined) continue
      const { threadId } = thread
      if (caller.random() < 0.5) {
        const answer = await caller.ask("GET", `/v1/threads/${threadId}`)
        if (answer?.status === 200)
          this.history.seen.push({
            threadId,
            seq: Number(field(answer.body, "lastSeq")),
            whole: true,
            began: answer.began,
            ended: answer.ended
          })
        continue
      }
      let next = 1
      for (let path = `/v1/threads/${threadId}/events?limit=40`; path !== ""; ) {
        const answer = await caller.ask("GET", path)
        if (answer?.status !== 200) break
        for (const event of listIn(answer.body, "events")) {
          const seq = Number(field(event, "seq"))
          if (seq !== next) this.history.problems.push(`J9: a page of ${threadId} goes on with ${seq}, not ${next}`)
          next = seq + 1
        }
        const cursor = field(answer.body, "nextCursor")
        this.history.seen.push({
          threadId,
          seq: next - 1,
          whole: cursor === "",
          began: answer.began,
          ended: answer.ended
        })
        path =
          cursor === "" || next > 400
            ? ""
            : `/v1/threads/${threadId}/events?limit=40&cursor=${encodeURIComponent(cursor)}`
      }
    }
  }

  /** Follows a thread's stream on one node after another, each time from where it was. */
  async #follower({ workspace }: Stage) {
    const caller = this.#caller(workspace)
    const seqs: Array<number> = []
    let thread: ThreadHistory | undefined
    while (this.#reading && thread === undefined) {
      await sleep(100)
      thread = this.#anyThread(workspace.id, caller.random)
    }
    if (thread === undefined) return
    const { threadId } = thread
    this.history.followed.push({ threadId, seqs })
    while (this.#reading) {
      const node = this.cluster.pick(caller.random)
      const path = `/v1/threads/${threadId}/events/stream?afterSeq=${seqs.at(-1) ?? 0}&types=event`
      const opened = Promise.race([
        Watcher.open(node?.base ?? "http://127.0.0.1:1", path, workspace.key).catch(() => undefined),
        sleep(5_000, undefined, { ref: false })
      ])
      const watcher = await opened
      if (watcher === undefined || watcher.status !== 200) {
        watcher?.close()
        await sleep(200)
        continue
      }
      const lives = performance.now() + 2_000 + caller.random() * 6_000
      while (this.#reading && !watcher.closed && performance.now() < lives) await sleep(100)
      watcher.close()
      for (const { id } of watcher.events("event")) seqs.push(Number(id))
      for (const { canary, name } of this.cluster.workspaces) {
        if (name !== workspace.name && watcher.text.includes(canary))
          this.history.problems.push(`J13: a stream of ${workspace.name} showed text of ${name}`)
      }
    }
  }

  /** Tries ids of other workspaces: there is nothing under them. */
  async #stranger({ workspace }: Stage) {
    const caller = this.#caller(workspace)
    while (this.#reading) {
      await sleep(300 + caller.random() * 400)
      const thread = this.#anyThread(workspace.id, caller.random, false)
      if (thread === undefined) continue
      const path = `/v1/threads/${thread.threadId}`
      const inputId = thread.sent.at(-1)?.inputId
      const tries: ReadonlyArray<readonly [string, string, unknown?]> = [
        ["GET", path],
        ["GET", `${path}/events`],
        ["GET", `${path}/queue`],
        ["POST", `${path}/cancel`, {}],
        ["POST", `${path}/messages`, { content: [{ type: "text", text: "not mine" }] }],
        ...(inputId === undefined ? [] : [["DELETE", `${path}/queue/${inputId}`] as const])
      ]
      const [method, to, body] = tries[Math.floor(caller.random() * tries.length)] ?? ["GET", path]
      const answer = await caller.ask(method, to, body)
      if (answer === undefined) continue
      if (answer.status === 404) this.history.foreign++
      else this.history.problems.push(`J13: ${method} ${to} of another workspace was answered ${answer.status}`)
    }
  }

  /** A key whose identity is disabled on one node is refused by all within five seconds. */
  async #leaver({ workspace }: Stage) {
    const admin = this.#caller(workspace)
    const identity = `leaver-${this.name}`
    const made = await admin.ask(
      "POST",
      "/v1/auth/keys",
      { name: "leaver", scopes: ["read"], identity },
      { key: `${this.name}.${this.#count++}` }
    )
    const key = field(made?.body, "token")
    if (key === "") throw new Error(`no key: ${made?.status} ${made?.text}`)
    const leaver = new Caller(this.cluster, workspace, this.history, admin.random, key)
    for (const node of this.cluster.nodes)
      if (node.up) await leaver.ask("GET", "/v1/agents?limit=1", undefined, { node, patience: 2_000 })
    const disabled = await admin.ask(
      "POST",
      "/v1/identities/disable",
      { identity },
      { key: `${this.name}.${this.#count++}` }
    )
    if (disabled?.status !== 200) return
    await sleep(5_000)
    for (const node of this.cluster.nodes) {
      if (!node.up) continue
      const answer = await leaver.ask("GET", "/v1/agents?limit=1", undefined, { node, patience: 2_000 })
      if (answer === undefined) continue
      if (answer.status === 403 || answer.status === 401) this.history.revocations++
      else
        this.history.problems.push(
          `R1: ${node.name} answers ${answer.status} to a disabled identity five seconds later`
        )
    }
  }

  /** Whether all followers have seen their threads' whole logs, for a while at most. */
  async caughtUp(lastSeqOf: (threadId: string) => number) {
    for (const until = performance.now() + 15_000; performance.now() < until; await sleep(200)) {
      if (this.history.followed.every(({ seqs, threadId }) => (seqs.at(-1) ?? 0) >= lastSeqOf(threadId))) return
    }
  }
}
