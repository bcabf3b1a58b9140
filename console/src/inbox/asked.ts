/** What a key asks the chosen card to do. */
export type Wish = "allow" | "deny" | "edit"

/** What the list tells each card. */
export interface Asked {
  readonly isChosen: boolean
  readonly wish: Wish | undefined
  /** The wish was heard. */
  readonly onWished: () => void
}
