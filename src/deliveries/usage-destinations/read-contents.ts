/**
 * The texts of calls whose customer stores their responses (`/v1/responses`) and asked for them in this destination. Nothing
 * else is stored of prompts and answers. What keys of a team wrote is not for the account that pays for them.
 */
import type { ResponseStore } from '../../customers/stored-responses/response-store.ts'
import { toMessages } from './to-messages.ts'
import type { SpanContent } from './to-otlp-spans.ts'

/** Larger ones are left out: they are in memory, and a collector takes a few megabytes. */
const TEXT_BYTES_MAX = 256_000

/** By the ids of the charges, which are those of the responses. */
export async function readContents(
  store: Pick<ResponseStore, 'measure' | 'read'>,
  customerId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SpanContent>> {
  const reader = { customerId, keyId: null, seesAccount: true }
  const contents = new Map<string, SpanContent>()
  const small: string[] = []
  for (const { id, inputBytes, responseBytes } of await store.measure(reader, ids)) {
    if (inputBytes > TEXT_BYTES_MAX || responseBytes > TEXT_BYTES_MAX)
      contents.set(id, { omitted: 'too_large' })
    else small.push(id)
  }
  if (small.length === 0) return contents
  for (const [id, { input, output }] of await store.read(reader, small, 'all'))
    contents.set(id, written(input ?? '[]', output))
  return contents
}

/** Customers can nest a text so deep that it is read and not written: that must not hold up its charge. */
function written(input: string, output: string): SpanContent {
  try {
    return {
      input: JSON.stringify(toMessages(JSON.parse(input))),
      output: JSON.stringify(toMessages(JSON.parse(output))),
    }
  } catch {
    return { omitted: 'unreadable' }
  }
}
