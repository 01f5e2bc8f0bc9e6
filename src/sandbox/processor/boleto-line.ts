/**
 * The bar code and the "linha digitável" of a boleto with valid check digits, so that programs that validate or show them
 * work. No bank would accept it, because its account does not exist.
 */
export interface BoletoLine {
  readonly barCode: string
  readonly line: string
}

const BANK = '461'
const REAL = '9'
/** Since 22 February 2025 the due date is counted in days from this date, starting at 1000. */
const FACTOR_EPOCH = Date.parse('2025-02-22T00:00:00Z')
const FACTOR_FIRST = 1_000
const FACTOR_MAX = 9_999

export function writeBoletoLine(boleto: {
  readonly amountCents: bigint
  readonly dueDate: string
  readonly number: number
}): BoletoLine {
  const days = Math.round((Date.parse(`${boleto.dueDate}T00:00:00Z`) - FACTOR_EPOCH) / 86_400_000)
  const factor = String(Math.min(FACTOR_FIRST + Math.max(0, days), FACTOR_MAX))
  const amount = boleto.amountCents.toString().padStart(10, '0').slice(-10)
  const free = String(boleto.number).padStart(25, '0').slice(-25)
  const rest = factor + amount + free
  const check = checkBarCode(BANK + REAL + rest)
  const fields = [BANK + REAL + free.slice(0, 5), free.slice(5, 15), free.slice(15)]
  return {
    barCode: BANK + REAL + check + rest,
    line: fields.map((field) => field + checkField(field)).join('') + check + factor + amount,
  }
}

/** Modulo 11, weights 2 to 9 from the right; 0, 10 and 11 become 1. */
function checkBarCode(digits: string): string {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    sum += Number(digits.at(-1 - index)) * (2 + (index % 8))
  }
  const check = 11 - (sum % 11)
  return String(check > 9 ? 1 : check)
}

/** Modulo 10, weights 2 and 1 from the right, the digits of products added up. */
function checkField(digits: string): string {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const product = Number(digits.at(-1 - index)) * (index % 2 === 0 ? 2 : 1)
    sum += product > 9 ? product - 9 : product
  }
  return String((10 - (sum % 10)) % 10)
}
