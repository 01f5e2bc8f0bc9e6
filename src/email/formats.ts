/** Amounts and times as Brazilians write them. All of them are pure. */

const CENTS = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' })
const EXACT = new Intl.NumberFormat('pt-BR', {
  style: 'currency',
  currency: 'BRL',
  minimumFractionDigits: 2,
  maximumFractionDigits: 9,
})
const COUNT = new Intl.NumberFormat('pt-BR')
const DECIMAL = /^-?\d{1,20}(\.\d{1,20})?$/
/** Not nothing, and yet less than a cent. */
const BELOW_A_CENT = /^-?0+\.00\d*[1-9]/
const DEFAULT_TIMEZONE = 'America/Sao_Paulo'

/**
 * `"1234.5"` -> `R$ 1.234,50`, with a no-break space. To the cent, but for what is less than one: that has all
 * its digits, so that nothing that was spent reads as nothing. Undefined for what is no decimal.
 */
export function formatBrl(decimal: string): string | undefined {
  if (!DECIMAL.test(decimal)) return undefined
  // Text keeps its digits: a double would not.
  return (BELOW_A_CENT.test(decimal) ? EXACT : CENTS).format(decimal as `${number}`)
}

export function formatCount(count: number): string {
  return COUNT.format(count)
}

/** `31/12/2026 23:59` in that zone. */
export function formatTime(at: Date, timezone: string): string {
  const parts = new Map(
    timeFormat(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? ''
  return `${part('day')}/${part('month')}/${part('year')} ${part('hour')}:${part('minute')}`
}

/** `2026-12-31` -> `31/12/2026`; undefined for anything else. */
export function formatDay(day: string): string | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  return match ? `${match[3]}/${match[2]}/${match[1]}` : undefined
}

/** `12345678000195` -> `12.345.678/0001-95`. */
export function formatCnpj(cnpj: string): string {
  return cnpj.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5')
}

const FIELDS: Intl.DateTimeFormatOptions = {
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
}

function timeFormat(timezone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('pt-BR', { ...FIELDS, timeZone: timezone })
  } catch {
    // The database may know a zone that Node.js does not.
    return new Intl.DateTimeFormat('pt-BR', { ...FIELDS, timeZone: DEFAULT_TIMEZONE })
  }
}
