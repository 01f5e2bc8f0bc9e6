/** Writes date and time in Brasília, such as `2026-11-21 13:05:59`. */
export function brasiliaTime(at: Date): string {
  return at.toLocaleString('sv-SE', { timeZone: 'America/Sao_Paulo' })
}

export function brasiliaDate(at: Date): string {
  return brasiliaTime(at).slice(0, 10)
}

export function isDate(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
