import { isObject } from '../../platform/lib/is-object.ts'
import { missing, parseJsonBody } from './read-field.ts'
import { createRefuser, refuse, PROVIDER_HEADERS } from './create-refuser.ts'
import { deliverBody } from './deliver-stream.ts'
import type { Exchange } from './open-exchange.ts'
import type { Tokenizer } from './open-tokenizer.ts'
import { findSandboxModel } from './sandbox-models.ts'

const IMAGE_TOKENS = 85
/** The categories of OpenAI, with the words that flag a text. */
const CATEGORIES: Readonly<Record<string, RegExp>> = {
  harassment: /\bidiota\b/i,
  'harassment/threatening': /\bvou te pegar\b/i,
  hate: /\bodeio (?:eles|elas)\b/i,
  'hate/threatening': /\bacabar com (?:eles|elas)\b/i,
  illicit: /\broubar\b/i,
  'illicit/violent': /\bbomba\b/i,
  'self-harm': /\bme machucar\b/i,
  'self-harm/intent': /\bvou me machucar\b/i,
  'self-harm/instructions': /\bcomo me machucar\b/i,
  sexual: /\bpornografia\b/i,
  'sexual/minors': /\bpornografia infantil\b/i,
  violence: /\bmatar\b|\bkill\b/i,
  'violence/graphic': /\bsangue\b/i,
}

/** OpenAI's moderations: a text is flagged by its words, and no image is. It reports its tokens, as Mistral does. */
export function createSandboxModerations(openTokenizer: () => Promise<Tokenizer>): {
  /** Throws `BadRequest`. */
  moderate(exchange: Exchange, text: string): Promise<void>
} {
  const refuser = createRefuser()
  return {
    async moderate(exchange, text) {
      const { model: name = 'sandbox-moderation', input } = parseJsonBody(text)
      const model = findSandboxModel(String(name))
      const inputs = Array.isArray(input) ? (input as unknown[]) : [input]
      if (inputs.length === 0 || input === undefined) throw missing('input')
      if (model.delivery === 'hang') return
      if (refuser.isRefused(model)) return refuse(exchange, model)
      const texts = inputs.map((each) => (isObject(each) ? (each.text ?? '') : each)).map(String)
      const judged = inputs.some(isObject) ? [texts.join('\n')] : texts
      const images = inputs.filter((each) => isObject(each) && each.type === 'image_url').length
      const tokenizer = await openTokenizer()
      const promptTokens = judged.reduce(
        (sum, each) => sum + tokenizer.count(each) + 1,
        images * IMAGE_TOKENS,
      )
      const hasUsage = model.usage !== 'none'
      if (hasUsage) exchange.reported = { promptTokens, completionTokens: 0 }
      const answer = {
        id: 'modr-sandbox',
        model: name,
        results: judged.map((each) => judge(each, images > 0 ? ['text', 'image'] : ['text'])),
        ...(hasUsage && { usage: { prompt_tokens: promptTokens, total_tokens: promptTokens } }),
      }
      const { pace, delivery } = model
      const common = { exchange, headers: PROVIDER_HEADERS, pace, delivery }
      return deliverBody({ ...common, body: JSON.stringify(answer), tokens: 0 })
    },
  }
}

function judge(text: string, inputTypes: readonly string[]): object {
  const found = Object.entries(CATEGORIES).map(([name, words]) => [name, words.test(text)] as const)
  return {
    flagged: found.some(([, isFound]) => isFound),
    categories: Object.fromEntries(found),
    category_scores: Object.fromEntries(found.map(([name, is]) => [name, is ? 0.9 : 0.01])),
    category_applied_input_types: Object.fromEntries(found.map(([name]) => [name, inputTypes])),
  }
}
