/**
 * Names of things that happen at most once, as ids of 26 characters: the journal refuses a second fact with the same.
 *
 * A turn's ids derive from one seed (D1): the input that opens it stands for its own admission, calls
 * and waits for themselves, and the upper half of the numbers for what they lead to.
 */
import { body, derive } from "./ids.ts"
import { half, last } from "./turnNumbers.ts"

const digits = "0123456789abcdefghjkmnpqrstvwxyz"

/** The number of a derived id among those of its seed. */
const indexOf = (id: string) => [...id.slice(-3)].reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0)

/** The admission of an input; with an input that opens a turn, that turn's first fact. */
export const admissionOf = (inputOrTurnId: string) => body(inputOrTurnId)
export const endOf = (turnId: string) => body(derive("turn", turnId, last))
export const resultOf = (toolCallId: string) => body(derive("call", toolCallId, half + indexOf(toolCallId)))
export const resolutionOf = (waitId: string) => body(waitId)
