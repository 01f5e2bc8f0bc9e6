import { useNavigate, useSearch } from '@tanstack/react-router'

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
  const filters = filtersOf(search, ...names)
  const change = (changed: Partial<Filters<Name>>): void => {
    const next = Object.fromEntries(
      Object.entries({ ...search, ...changed }).filter(([, value]) => value !== ''),
    )
    void navigate({ to: '.', search: next as never, replace, resetScroll: false })
  }
  return [filters, change]
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
