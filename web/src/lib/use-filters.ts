import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'

export type Filters<Name extends string> = Readonly<Record<Name, string>>

/** Filters in the URL: reload and links keep them. `''` means no filter. */
export function useFilters<Name extends string>(...names: readonly Name[]): FiltersInUrl<Name> {
  return useUrl(names, true)
}

/** The same where each change is a step of its own: the browser's Back undoes it. Not for text as it is typed. */
export function useFilterSteps<Name extends string>(...names: readonly Name[]): FiltersInUrl<Name> {
  return useUrl(names, false)
}

type FiltersInUrl<Name extends string> = [Filters<Name>, (change: Partial<Filters<Name>>) => void]

function useUrl<Name extends string>(names: readonly Name[], replace: boolean): FiltersInUrl<Name> {
  const search: Record<string, unknown> = useSearch({ strict: false })
  const navigate = useNavigate()
  // The router shows a new URL in a transition. Until then a control would fall back to its old value.
  const [choice, setChoice] = useState<{ of: object; changed: Partial<Filters<Name>> }>()
  const chosen = choice?.of === search ? choice.changed : undefined
  const change = (changed: Partial<Filters<Name>>): void => {
    setChoice({ of: search, changed: { ...chosen, ...changed } })
    void navigate({
      to: '.',
      search: ((before: object) => withoutEmpty({ ...before, ...changed })) as never,
      replace,
      resetScroll: false,
    })
  }
  return [{ ...filtersOf(search, ...names), ...chosen }, change]
}

function withoutEmpty(search: object): object {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value !== ''))
}

export function filtersOf<Name extends string>(
  search: Readonly<Record<string, unknown>>,
  ...names: readonly Name[]
): Filters<Name> {
  return Object.fromEntries(names.map((name) => [name, textOf(search[name])])) as Filters<Name>
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
