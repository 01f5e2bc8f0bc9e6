/** Embeddings in the format of Google's Gemini API: of one content, or of a list of requests. */
import { jsonBrl } from '../../../platform/lib/money.ts'
import { InvalidField } from '../chat/formats/fields.ts'
import { messagesAt, numberOf, protoFields } from '../chat/formats/gemini/proto-json.ts'
import { textsOf } from '../chat/formats/gemini/to-chat-messages.ts'
import { readJsonBody } from '../read-request.ts'
import { isRefusal, refusals } from '../refusal.ts'
import type { EmbeddingFormat } from './embedding-kind.ts'
import { readEmbeddingBody } from './embedding-request.ts'

export function createGeminiEmbeddings(isBatch: boolean): EmbeddingFormat {
  return {
    read(raw) {
      const json = readJsonBody(raw)
      if (isRefusal(json)) return json
      try {
        const { model, models, provider, ...fields } = protoFields(json)
        const requests = isBatch ? messagesAt(fields.requests, 'requests') : [fields]
        const input = requests.map(({ content }, index) =>
          textsOf(content, isBatch ? `requests[${index}].content` : 'content').join('\n'),
        )
        const dimensions = onlyOne(requests, 'outputDimensionality')
        const named = onlyOne(requests, 'model') ?? model
        // The call is priced and served by the model of the path.
        if (typeof named === 'string' && named.replace(/^models\//, '') !== model)
          throw new InvalidField('O campo "model" deve ser o modelo do endereço.')
        return readEmbeddingBody({ model, models, provider, input, dimensions })
      } catch (error) {
        if (error instanceof InvalidField) return refusals.invalidRequest(error.message)
        throw error
      }
    },
    entryOf: (values) => ({ values }),
    write(entries, _call, charged) {
      const rest = JSON.stringify({
        usageMetadata: { promptTokenCount: charged.promptTokens },
        cost_billed_brl: jsonBrl(charged.billedNanoBrl),
      })
      const vectors = isBatch ? `"embeddings":[${entries}]` : `"embedding":${entries}`
      return `{${vectors},${rest.slice(1)}`
    },
  }
}

/** What all requests of a list have in a field; undefined if none has it. */
function onlyOne(requests: readonly Record<string, unknown>[], field: string): unknown {
  const [first, ...others] = new Set(requests.map((each) => numberOf(each[field])))
  if (others.length > 0)
    throw new InvalidField(`O campo "${field}" deve ser o mesmo em todos os itens de "requests".`)
  return first
}
