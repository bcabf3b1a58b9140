/** An empty inbox: a message to an agent, so that there is something to see. */
import { useMutation } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useId, useState } from "react"
import { answerOf } from "../../../src/client/client.ts"
import { AgentChoice } from "../parts/AgentChoice.tsx"
import { useAgents } from "../parts/agents.ts"
import { Failure } from "../parts/Failure.tsx"
import { Gated } from "../parts/Gated.tsx"
import { useSession } from "../session/Session.tsx"

/** Of the agent that `npm start` brings along: its tool wants a person's word, so this ends in the inbox. */
const demoAgent = "agt_0000000000000000000000dem0"
const demoText = '/call thread.rename {"title":"My first thread"}\n/say It has its name now.'

export const FirstMessage = () => {
  const { troupe } = useSession()
  const navigate = useNavigate()
  const [agentId, setAgentId] = useState<string>()
  const [text, setText] = useState<string>()
  const textId = useId()
  const agents = useAgents()
  const known = agents.agents
  const chosen = agentId ?? known.find(({ id }) => id === demoAgent)?.id ?? known[0]?.id ?? ""
  const words = text ?? (chosen === demoAgent ? demoText : "")
  const start = useMutation({
    mutationFn: () =>
      answerOf(
        troupe.api.POST("/v1/threads", {
          body: { agentId: chosen, message: { content: [{ type: "text", text: words }] } }
        })
      ),
    onSuccess: ({ thread }) => navigate({ to: "/threads/$threadId", params: { threadId: thread.id } })
  })
  return (
    <div className="first">
      <p>Nothing waits for you.</p>
      {agents.error === null ? null : <Failure failure={agents.error} retry={agents.retry} />}
      {known.length === 0 ? (
        agents.isKnown ? (
          <p className="quiet">There is no agent yet: the API makes one.</p>
        ) : null
      ) : (
        <form
          className="card"
          onSubmit={(event) => {
            event.preventDefault()
            start.mutate()
          }}
        >
          <h2>Start a thread</h2>
          <AgentChoice of={agents} value={chosen} onChosen={setAgentId} />
          <label htmlFor={textId}>Message</label>
          <textarea id={textId} rows={4} value={words} onChange={(event) => setText(event.target.value)} />
          {chosen === demoAgent && text === undefined ? (
            <p className="quiet">
              The demo agent does what the message says: here it calls a tool that wants a person's approval first.
            </p>
          ) : null}
          <div className="buttons">
            <Gated scope="run" type="submit" className="primary" disabled={start.isPending || words.trim() === ""}>
              Send
            </Gated>
          </div>
          {start.error === null ? null : <Failure failure={start.error} />}
        </form>
      )}
    </div>
  )
}
