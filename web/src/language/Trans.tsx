import { Trans as LinguiTrans } from '@lingui/react'
import type { ReactNode } from 'react'

interface TransProps {
  /** The Portuguese text, an ICU message: `{name}` stands for a value. */
  readonly id: string
  readonly values: Readonly<Record<string, ReactNode>>
}

/** A text with elements in it. */
export function Trans({ id, values }: TransProps) {
  return <LinguiTrans id={id} values={nodesOf(values)} />
}

/** Texts as elements: as strings, Lingui would look for tags in them. */
function nodesOf(values: TransProps['values']): Record<string, ReactNode> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? <>{value}</> : value,
    ]),
  )
}
