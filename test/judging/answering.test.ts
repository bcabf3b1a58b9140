import { assert, it } from "@effect/vitest"
import { once } from "node:events"
import { MessageChannel } from "node:worker_threads"
import { answering } from "../../src/judging/answering.ts"

it("a thread says that it is ready once it has judged: nobody's question costs what only a first one costs", async () => {
  const { port1: asking, port2: inside } = new MessageChannel()
  const judged: Array<string> = []
  const judge = (question: string) => {
    judged.push(question)
    return question.toUpperCase()
  }
  try {
    answering(inside, judge, "first")
    assert.deepStrictEqual(judged, ["first"])
    const [ready] = await once(asking, "message")
    assert.notProperty(ready, "answer")
    asking.postMessage("second")
    const [word] = await once(asking, "message")
    assert.deepInclude(word, { answer: "SECOND" })
    assert.deepStrictEqual(judged, ["first", "second"])
  } finally {
    asking.close()
  }
})
