import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { router } from "./router.tsx"
import "./style.css"
import "./frame.css"
import "./parts/parts.css"
import "./threads/threads.css"

/** The client tries again by itself. */
const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 2_000 } } })

const place = document.getElementById("root")
if (place === null) throw new Error("the page has no place for the console")

createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>
)
