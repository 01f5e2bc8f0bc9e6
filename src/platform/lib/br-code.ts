/**
 * The BR Code of Pix ("copia e cola"), by the Banco Central's Manual de Padrões para Iniciação do Pix: fields
 * of a two-digit id, a two-digit length and a value, with a checksum at the end. Only ASCII is written: some
 * readers count lengths in bytes and others in characters, and in ASCII the two are equal.
 */
export interface BrCode {
  /** The receiver's Pix key (static code), or a URL without its scheme (dynamic code). */
  readonly target:
    | { readonly kind: 'key'; readonly key: string; readonly info?: string | undefined }
    | { readonly kind: 'url'; readonly url: string }
  readonly merchantName: string
  readonly city: string
  readonly amountCents?: bigint | undefined
  /**
   * Up to 25 letters and digits. The default, `***`, means none, and is the only value allowed in a dynamic
   * code.
   */
  readonly txid?: string | undefined
  /** The code is to be paid once, and states so. */
  readonly isOneTime?: boolean | undefined
}

const GUI = 'br.gov.bcb.pix'
const NAME_CHARACTERS_MAX = 25
const CITY_CHARACTERS_MAX = 15
const INFO_CHARACTERS_MAX = 72
const VALUE_CHARACTERS_MAX = 99
/** Ten digits before the decimal point, as in the Banco Central's API. */
const AMOUNT_CENTS_MAX = 999_999_999_999n

/** Writes a Pix code. Throws a `RangeError` for a value that the standard does not allow. */
export function writeBrCode(code: BrCode): string {
  const { target, amountCents, txid = '***' } = code
  if (!(target.kind === 'key' ? /^([A-Za-z0-9]{1,25}|\*{3})$/ : /^\*{3}$/).test(txid)) {
    throw new RangeError('the txid is not valid for this kind of code')
  }
  const text = [
    field('00', '01'),
    code.isOneTime ? field('01', '12') : '',
    field('26', field('00', GUI) + targetFields(target)),
    field('52', '0000'),
    field('53', '986'),
    amountCents === undefined ? '' : field('54', writeAmount(amountCents)),
    field('58', 'BR'),
    field('59', plain(code.merchantName, NAME_CHARACTERS_MAX)),
    field('60', plain(code.city, CITY_CHARACTERS_MAX)),
    field('62', field('05', txid)),
    '6304',
  ].join('')
  return text + checksumOf(text)
}

/** Reads a Pix code; undefined when the checksum is wrong, the fields do not add up or the text is not a Pix code. */
export function readBrCode(text: string): BrCode | undefined {
  if (!/^[\x20-\x7e]+$/.test(text) || text.slice(-8, -4) !== '6304') return undefined
  if (checksumOf(text.slice(0, -4)) !== text.slice(-4).toUpperCase()) return undefined
  const fields = readFields(text)
  const account = readFields(fields?.get('26') ?? '')
  const more = readFields(fields?.get('62') ?? '')
  if (!fields || !account || !more || account.get('00')?.toLowerCase() !== GUI) return undefined
  const key = account.get('01')
  const url = account.get('25')
  const amount = fields.get('54')
  if (amount !== undefined && !/^\d{1,10}\.\d{2}$/.test(amount)) return undefined
  if (key === undefined && url === undefined) return undefined
  return {
    target:
      url === undefined
        ? { kind: 'key', key: key as string, info: account.get('02') }
        : { kind: 'url', url },
    merchantName: fields.get('59') ?? '',
    city: fields.get('60') ?? '',
    amountCents: amount === undefined ? undefined : BigInt(amount.replace('.', '')),
    txid: more.get('05'),
    isOneTime: fields.get('01') === '12',
  }
}

/** Computes CRC-16/CCITT-FALSE as four hexadecimal digits: polynomial 0x1021, initial value 0xFFFF, not reflected. */
export function checksumOf(text: string): string {
  let crc = 0xffff
  for (const byte of Buffer.from(text, 'utf8')) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) {
      crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff
    }
  }
  return crc.toString(16).toUpperCase().padStart(4, '0')
}

function targetFields(target: BrCode['target']): string {
  if (target.kind === 'url') return field('25', ascii(target.url))
  const info = target.info && plain(target.info, INFO_CHARACTERS_MAX)
  return field('01', ascii(target.key)) + (info ? field('02', info) : '')
}

function field(id: string, value: string): string {
  if (value.length === 0 || value.length > VALUE_CHARACTERS_MAX) {
    throw new RangeError(`field ${id} is too long: ${value.length} characters`)
  }
  return id + String(value.length).padStart(2, '0') + value
}

function writeAmount(cents: bigint): string {
  if (cents <= 0n || cents > AMOUNT_CENTS_MAX)
    throw new RangeError(`the amount is out of range: ${cents} centavos`)
  const digits = cents.toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

function ascii(text: string): string {
  if (!/^[\x21-\x7e]+$/.test(text)) throw new RangeError('a key or an address is not plain ASCII')
  return text
}

/**
 * Removes accents, replaces characters that have no plain letter with a space, and cuts the text to the limit.
 */
function plain(text: string, charactersMax: number): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x21-\x7e]+/g, ' ')
    .trim()
    .slice(0, charactersMax)
    .trimEnd()
}

function readFields(text: string): Map<string, string> | undefined {
  const fields = new Map<string, string>()
  let at = 0
  while (at < text.length) {
    const head = /^(\d{2})(\d{2})$/.exec(text.slice(at, at + 4))
    if (!head) return undefined
    const end = at + 4 + Number(head[2])
    if (end > text.length) return undefined
    fields.set(head[1] as string, text.slice(at + 4, end))
    at = end
  }
  return fields
}
