import { renderList } from './asaas-format.ts'

const LIMIT_DEFAULT = 10
const LIMIT_MAX = 100

export function answerList(data: readonly object[], query: URLSearchParams): object {
  const limit = Math.min(Number(query.get('limit')) || LIMIT_DEFAULT, LIMIT_MAX)
  return renderList(data, limit, Number(query.get('offset')) || 0)
}

/** Also true if the query does not filter by the name. */
export function matches(query: URLSearchParams, name: string, value: unknown): boolean {
  const wanted = query.get(name)
  return wanted === null || wanted === value
}

/** Filters by `<name>[ge]` and `<name>[le]`, both inclusive; true if the query has neither. */
export function isWithin(query: URLSearchParams, name: string, day: string | undefined): boolean {
  const [first, last] = [query.get(`${name}[ge]`), query.get(`${name}[le]`)]
  if (first === null && last === null) return true
  return day !== undefined && (first === null || day >= first) && (last === null || day <= last)
}
