import { beyond } from '../../../platform/admission/share.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject, Provider, ModerationResult, ReportedUsage } from '../contract.ts'
import { createDownloadFile, readDownloadFailure } from '../download-file.ts'
import { plainTokens } from '../plain-tokens.ts'
import { inlineImages } from './inline-images.ts'
import { post } from './post.ts'
import { BadAnswer, readCallError } from './read-answer.ts'
import { readCount } from './read-usage.ts'
import type { Upstream } from './upstream.ts'

const ANSWER_BYTES_MAX = 16 * 1024 * 1024

/** `/moderations`, as OpenAI and Mistral have it. Addresses of images are never sent: the hold covers images. */
export function createModerate(upstream: Upstream): NonNullable<Provider['moderate']> {
  const path = upstream.path('/moderations')
  return async function moderate(call, signal) {
    const { model, callId, resultCount, bytesReserved, takeBytes } = call
    try {
      const download = createDownloadFile(signal, false, takeBytes)
      const { messages } = await inlineImages({ messages: [{ content: call.input }] }, download)
      const [{ content: input }] = messages as [JsonObject]
      const request = {
        path,
        callId,
        body: JSON.stringify({ model, input }),
        answerBytesMax: ANSWER_BYTES_MAX,
        takeBytes: takeBytes && beyond(bytesReserved, takeBytes),
      }
      return await post(upstream, request, signal, ({ results, usage }) => {
        if (!Array.isArray(results) || results.length !== resultCount)
          throw new BadAnswer(`there are not ${resultCount} results`)
        return { kind: 'moderation', results: results.map(readResult), usage: readUsage(usage) }
      })
    } catch (error) {
      return readDownloadFailure(error) ?? readCallError(error)
    }
  }
}

function readResult(result: unknown): ModerationResult {
  const {
    flagged,
    categories,
    category_scores: scores,
    category_applied_input_types: types,
  } = isObject(result) ? result : {}
  if (!isObject(categories) || !isObject(scores))
    throw new BadAnswer('a result has no categories or no scores')
  return {
    // Mistral's answers leave it out.
    flagged: typeof flagged === 'boolean' ? flagged : Object.values(categories).includes(true),
    categories: valuesThat(categories, (value) => value === null || typeof value === 'boolean'),
    category_scores: valuesThat(scores, (value) => typeof value === 'number'),
    ...(isObject(types) && {
      category_applied_input_types: valuesThat(types, (value) => Array.isArray(value)),
    }),
  }
}

function valuesThat(values: JsonObject, isValid: (value: unknown) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isValid(value)))
}

/** OpenAI reports none. */
function readUsage(usage: unknown): ReportedUsage | undefined {
  const promptTokens = isObject(usage)
    ? readCount(usage.prompt_tokens ?? usage.input_tokens ?? usage.total_tokens)
    : undefined
  return promptTokens === undefined ? undefined : plainTokens(promptTokens, 0)
}
