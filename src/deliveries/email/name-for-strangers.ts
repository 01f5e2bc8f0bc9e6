const LENGTH_MAX = 40

/**
 * A name that the sender of a mail to a stranger has chosen: it keeps letters, small numbers and the punctuation of
 * names. Addresses, phone numbers and sentences of an advertisement do not survive. Undefined if nothing remains.
 */
export function nameForStrangers(text: string | undefined): string | undefined {
  const kept = (text ?? '')
    .normalize('NFKC')
    .replaceAll(/(https?|www)(?=[^\p{L}\p{N}])/giu, ' ')
    .replaceAll(/[^\p{L}\p{M}\p{N} '’&-]/gu, ' ')
    .replaceAll(/\p{N}[\p{N} -]{4,}\p{N}/gu, ' ')
    .replaceAll(/ +/g, ' ')
    .trim()
  if (kept === '') return undefined
  const letters = Array.from(kept)
  return letters.length <= LENGTH_MAX
    ? kept
    : `${letters
        .slice(0, LENGTH_MAX - 1)
        .join('')
        .trim()}…`
}
