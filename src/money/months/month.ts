/** A month in UTC, as `2025-03`. */
export type Month = string

export function isMonth(text: string): boolean {
  return /^\d{4}-(0[1-9]|1[0-2])$/.test(text)
}

/** Returns the first day of a month, as the database writes it. */
export function firstDay(month: Month): string {
  return `${month}-01`
}

/** Returns the exact times of a month's begin and end; `toAt` is exclusive. */
export function boundsOf(month: Month): { readonly fromAt: string; readonly toAt: string } {
  return { fromAt: `${month}-01T00:00:00Z`, toAt: `${addMonths(month, 1)}-01T00:00:00Z` }
}

export function addMonths(month: Month, count: number): Month {
  const [year, number] = month.split('-').map(Number) as [number, number]
  return new Date(Date.UTC(year, number - 1 + count)).toISOString().slice(0, 7)
}
