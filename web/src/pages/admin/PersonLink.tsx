import { Link } from '@tanstack/react-router'

interface PersonLinkProps {
  readonly id: string
  /** `null`: nobody knows any more. */
  readonly name: string | null
}

/** A customer by name, and the way to what operators know of them. */
export function PersonLink({ id, name }: PersonLinkProps) {
  return (
    <Link
      to="/admin/clientes/$id"
      params={{ id }}
      // Where somebody looks is told in the audit log: passing over a link is no look.
      preload={false}
      className="font-medium break-words text-accent underline-offset-4 hover:underline"
    >
      {name === null || name === '' ? `Cliente ${id.slice(0, 8)}` : name}
    </Link>
  )
}
