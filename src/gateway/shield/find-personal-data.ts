import { findEmails } from './find-emails.ts'
import { findNumbers } from './find-numbers.ts'
import { findPixKeys } from './find-pix-keys.ts'
import { foldText, type FoldedText } from './fold-text.ts'
import type { Found } from './found.ts'
import type { FindOptions } from '../../customers/shield-setting.ts'
import { placeInJson } from './place-in-json.ts'

/**
 * Finds CPF, CNPJ, e-mail addresses, Brazilian phone numbers, cards and Pix keys: in order, without overlaps. The
 * time is linear in the length of the text. docs/shield.md lists the spellings.
 */
export function findPersonalData(source: string, options: FindOptions): readonly Found[] {
  const steps = findInSteps(source, options)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The same, with pauses, so that other work can be done meanwhile. */
export function* findInSteps(
  source: string,
  options: FindOptions,
): Generator<void, readonly Found[]> {
  const folded = yield* foldText(source)
  const { text } = folded
  yield
  const pix = findPixKeys(text, options)
  const emails = yield* findEmails(text)
  const addresses = merge(merge(pix.inBrCodes, emails), pix.uuids)
  yield
  const numbers = yield* findNumbers(text, merge(addresses, pix.ids))
  const found = merge(addresses, numbers)
  const placed = text === source ? found : found.map((each) => unfold(each, folded))
  return yield* placeInJson(source, placed)
}

function unfold(found: Found, folded: FoldedText): Found {
  return { ...found, start: folded.sourceOf(found.start), end: folded.sourceOf(found.end) }
}

/** Both lists in order; what overlaps an entry of the first list is left out of the second. */
function merge<First extends Range, Second extends Range>(
  first: readonly First[],
  second: readonly Second[],
): (First | Second)[] {
  if (second.length === 0) return [...first]
  const merged: (First | Second)[] = []
  let next = 0
  let free = 0
  for (const each of second) {
    let rival = first[next]
    while (rival !== undefined && rival.end <= each.start) {
      merged.push(rival)
      free = rival.end
      next += 1
      rival = first[next]
    }
    if (each.start < free || (rival !== undefined && rival.start < each.end)) continue
    merged.push(each)
    free = each.end
  }
  return [...merged, ...first.slice(next)]
}

interface Range {
  readonly start: number
  readonly end: number
}
