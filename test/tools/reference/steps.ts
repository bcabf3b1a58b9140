/** The calls of each reference server: every tool that it lists, in an order in which each finds what it needs. */
import { join } from "node:path"

export interface Step {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** It takes seconds, and the others need not wait for it. */
  readonly isSlow?: true
}

const step = (tool: string, input: Step["input"] = {}): Step => ({ tool, input })

export const everything: ReadonlyArray<Step> = [
  step("echo", { message: 'é\u0000"\n\ud83d\ude00' }),
  step("get-annotated-message", { messageType: "error", includeImage: true }),
  step("get-annotated-message", { messageType: "debug" }),
  step("get-env"),
  step("get-resource-links", { count: 3 }),
  step("get-resource-reference", { resourceType: "Text", resourceId: 1 }),
  step("get-resource-reference", { resourceType: "Blob", resourceId: 2 }),
  step("get-resource-reference", { resourceId: 0 }),
  step("get-structured-content", { location: "Chicago" }),
  step("get-sum", { a: 2, b: 3.5 }),
  step("get-tiny-image"),
  step("gzip-file-as-resource", { name: "a.gz", data: "data:text/plain,hello", outputType: "resource" }),
  step("gzip-file-as-resource", { name: "b.gz", data: "data:text/plain,hello", outputType: "resourceLink" }),
  step("toggle-simulated-logging"),
  step("toggle-simulated-logging"),
  step("toggle-subscriber-updates"),
  step("toggle-subscriber-updates"),
  step("trigger-long-running-operation", { duration: 0.1, steps: 2 }),
  { ...step("simulate-research-query", { topic: "actors" }), isSlow: true }
]

export const filesystem = (folder: string): ReadonlyArray<Step> => {
  const at = (name: string) => ({ path: join(folder, name) })
  return [
    step("list_allowed_directories"),
    step("create_directory", at("made/here")),
    step("write_file", { ...at("made/new.txt"), content: "first\nsecond\n" }),
    step("edit_file", { ...at("made/new.txt"), edits: [{ oldText: "second", newText: "2nd" }] }),
    step("move_file", { source: join(folder, "made/new.txt"), destination: join(folder, "made/here/moved.txt") }),
    step("read_file", at("made/here/moved.txt")),
    step("read_text_file", { ...at("notes.txt"), head: 2 }),
    step("read_text_file", at("missing.txt")),
    step("read_text_file", { path: "/etc/hostname" }),
    step("read_media_file", at("dot.png")),
    step("read_media_file", at("tone.wav")),
    step("read_media_file", at("data.bin")),
    step("read_multiple_files", { paths: [join(folder, "notes.txt"), join(folder, "missing.txt")] }),
    step("list_directory", { path: folder }),
    step("list_directory_with_sizes", { path: folder, sortBy: "size" }),
    step("directory_tree", { path: folder }),
    step("search_files", { path: folder, pattern: "**/*.txt" }),
    step("get_file_info", at("notes.txt"))
  ]
}

export const memory: ReadonlyArray<Step> = [
  step("read_graph"),
  step("create_entities", {
    entities: [
      { name: "Ada", entityType: "person", observations: ["wrote programs"] },
      { name: "Engine", entityType: "machine", observations: [] }
    ]
  }),
  step("create_relations", { relations: [{ from: "Ada", to: "Engine", relationType: "programs" }] }),
  step("add_observations", { observations: [{ entityName: "Engine", contents: ["has cogs", "was never built"] }] }),
  step("add_observations", { observations: [{ entityName: "Nobody", contents: ["x"] }] }),
  step("search_nodes", { query: "cogs" }),
  step("open_nodes", { names: ["Ada"] }),
  step("delete_observations", { deletions: [{ entityName: "Engine", observations: ["has cogs"] }] }),
  step("delete_relations", { relations: [{ from: "Ada", to: "Engine", relationType: "programs" }] }),
  step("delete_entities", { entityNames: ["Ada"] }),
  step("read_graph")
]

export const sequentialthinking: ReadonlyArray<Step> = [
  step("sequentialthinking", { thought: "a thought", nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }),
  step("sequentialthinking", {
    thought: "the last",
    nextThoughtNeeded: false,
    thoughtNumber: 2,
    totalThoughts: 2,
    isRevision: true,
    revisesThought: 1
  })
]
