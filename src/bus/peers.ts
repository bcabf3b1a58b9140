/**
 * The list of live nodes says of their signatures whether unsigned messages are still to be taken, and with whom this
 * node shares no key.
 *
 * A node's row names the keys that it knows, the one that it signs with first. Nodes of the version before name none:
 * while one of them lives, what is not signed may be theirs.
 */
export interface NodePeer {
  readonly incarnation: string
  readonly name: string
  readonly signs?: ReadonlyArray<string>
}

export interface NodePeers {
  /** A node that does not sign is alive. */
  readonly unsigned: () => boolean
  /** Each can verify what the other signs; so it is supposed of nodes that are not on the list yet. */
  readonly shares: (incarnation: string) => boolean
  /** The live nodes with which this one shares no key. */
  readonly strangers: () => ReadonlyArray<NodePeer>
}

export const makeNodePeers = (own: ReadonlyArray<string>, nodes: () => ReadonlyArray<NodePeer>): NodePeers => {
  const understands = ({ signs }: NodePeer) => {
    const [theirs] = signs ?? []
    const [ours] = own
    return (
      signs === undefined ||
      (theirs !== undefined && own.includes(theirs) && ours !== undefined && signs.includes(ours))
    )
  }
  return {
    unsigned: () => nodes().some(({ signs }) => signs === undefined),
    shares: (incarnation) => {
      const peer = nodes().find((node) => node.incarnation === incarnation)
      return peer === undefined || understands(peer)
    },
    strangers: () => nodes().filter((node) => !understands(node))
  }
}
