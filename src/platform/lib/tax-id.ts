/**
 * A CPF (people, 11 digits) or CNPJ (companies, 14 characters; since July 2026 also letters, by IN RFB 2.229/2024), or
 * the fault of its format or check digits.
 */
export type TaxIdReading =
  | { readonly kind: 'cpf' | 'cnpj'; readonly taxId: string }
  | { readonly kind: 'invalid_cpf_cnpj_format' | 'invalid_cpf_cnpj_checksum' }

/** Reads a CPF or CNPJ. Accepts punctuation and spaces, and returns the id without them. */
export function readTaxId(text: string): TaxIdReading {
  const taxId = text.replaceAll(/[./\-\s]/g, '').replaceAll(/[a-z]/g, (c) => c.toUpperCase())
  const kind = kindOfTaxId(taxId)
  if (!kind) return { kind: 'invalid_cpf_cnpj_format' }
  const isSame = /^(.)\1+$/.test(taxId)
  const rest = taxId.slice(0, -2)
  const weightMax = kind === 'cpf' ? 11 : 9
  const first = checkDigit(rest, weightMax)
  const second = checkDigit(`${rest}${first}`, weightMax)
  // A CPF of one repeated digit passes the checksum, but none was ever issued.
  return isSame || !taxId.endsWith(`${first}${second}`)
    ? { kind: 'invalid_cpf_cnpj_checksum' }
    : { kind, taxId }
}

/** Returns whether an id is a CPF or a CNPJ. Expects it without punctuation. */
export function kindOfTaxId(taxId: string): 'cpf' | 'cnpj' | undefined {
  if (/^\d{11}$/.test(taxId)) return 'cpf'
  return /^[0-9A-Z]{12}\d{2}$/.test(taxId) ? 'cnpj' : undefined
}

/** Writes an id with its punctuation: `529.982.247-25`, or for a CNPJ `12.345.678/0001-95`. */
export function formatTaxId(taxId: string): string {
  return taxId.length === 11
    ? taxId.replace(/^(...)(...)(...)(..)$/, '$1.$2.$3-$4')
    : taxId.replace(/^(..)(...)(...)(....)(..)$/, '$1.$2.$3/$4-$5')
}

/** Masks an id as the federal government does: `***.982.247-**`, or for a CNPJ `**.345.678/****-**`. */
export function maskTaxId(taxId: string): string {
  return taxId.length === 11
    ? `***.${taxId.slice(3, 6)}.${taxId.slice(6, 9)}-**`
    : `**.${taxId.slice(2, 5)}.${taxId.slice(5, 8)}/****-**`
}

/**
 * Weights grow from 2 at the right, and start again after the highest. A character counts as its code less 48.
 */
function checkDigit(text: string, weightMax: number): number {
  let sum = 0
  let weight = 2
  for (let index = text.length - 1; index >= 0; index--) {
    sum += (text.charCodeAt(index) - 48) * weight
    weight = weight === weightMax ? 2 : weight + 1
  }
  const rest = sum % 11
  return rest < 2 ? 0 : 11 - rest
}
