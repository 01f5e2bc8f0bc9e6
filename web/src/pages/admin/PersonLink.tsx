import { Link } from '@tanstack/react-router'
import { t } from '../../language/t.ts'

interface PersonLinkProps {
  readonly id: string
  /** `null`: the name is no longer known. */
  readonly name: string | null
}

/** A customer's name, linked to the operators' page about them. */
export function PersonLink({ id, name }: PersonLinkProps) {
  return (
    <Link
      to="/admin/clientes/$id"
      params={{ id }}
      // Opening the page is recorded in the audit log, so hovering over the link must not load it.
      preload={false}
      className="font-medium break-words text-accent underline-offset-4 hover:underline"
    >
      {name === null || name === '' ? t('Cliente {id}', { id: id.slice(0, 8) }) : name}
    </Link>
  )
}
