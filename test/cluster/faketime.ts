/** The environment of a process whose wall clock follows a file; its monotonic clock is left alone. */
import { existsSync } from "node:fs"

const library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"

/** The file holds an offset, such as `+2h` or `-2h`. */
export const jumping = (file: string): Readonly<Record<string, string>> => {
  if (!existsSync(library)) throw new Error("this fault needs libfaketime: apt-get install faketime")
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    DONT_FAKE_MONOTONIC: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1"
  }
}
