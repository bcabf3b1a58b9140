/** A real process under test: waits for lines of its output, kills it, reads what it said. */
import { type ChildProcess, spawn } from "node:child_process"

export interface ChildOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  /** It has a standard input, which is the caller's to write and to end. */
  readonly input?: true
}

export class Child {
  readonly process: ChildProcess
  output = ""
  #waiting: Array<() => void> = []
  #ended = false

  constructor(program: string, args: ReadonlyArray<string>, options: ChildOptions = {}) {
    this.process = spawn(program, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: [options.input === true ? "pipe" : "ignore", "pipe", "pipe"]
    })
    const heard = (bytes: Buffer) => {
      this.output += bytes.toString()
      this.#wake()
    }
    this.process.stdout?.on("data", heard)
    this.process.stderr?.on("data", heard)
    this.process.once("close", () => {
      this.#ended = true
      this.#wake()
    })
  }

  #wake() {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  /** The first match in the output; fails with the whole output if the process ends without one. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output)
      if (match !== null) return match
      if (this.#ended)
        throw new Error(
          `the process ended (${this.process.exitCode ?? this.process.signalCode}) without ${pattern}:\n${this.output}`
        )
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  /** Sends the signal and waits for the end; the exit code, or the signal that ended it. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | NodeJS.Signals | null> {
    if (!this.#ended) this.process.kill(signal)
    return this.ended()
  }

  async ended(): Promise<number | NodeJS.Signals | null> {
    while (!this.#ended) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return this.process.exitCode ?? this.process.signalCode
  }
}
