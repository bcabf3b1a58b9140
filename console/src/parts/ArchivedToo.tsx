/** Whether a list has what is archived as well. */
export const ArchivedToo = ({
  onChosen,
  value
}: {
  readonly value: boolean
  readonly onChosen: (value: boolean) => void
}) => (
  <label className="check">
    <input type="checkbox" checked={value} onChange={(event) => onChosen(event.target.checked)} />
    archived ones too
  </label>
)
