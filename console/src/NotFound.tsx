import { Link } from "@tanstack/react-router"

export const NotFound = () => (
  <section>
    <h1>There is no such page</h1>
    <p>
      The <Link to="/">inbox</Link> is where things begin.
    </p>
  </section>
)
