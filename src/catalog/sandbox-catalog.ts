import type { Model } from './model.ts'

/** What each model of the sandbox upstream shows; see `providers/sandbox` for how it does. */
const SHOWS: Record<string, string> = {
  'sandbox-chat': 'Responde como um modelo bem comportado.',
  'sandbox-slow': 'Demora dois segundos e escreve devagar.',
  'sandbox-long': 'Escreve por cerca de oito segundos.',
  'sandbox-big': 'Responde cerca de dois megabytes.',
  'sandbox-reasoning': 'Mostra raciocínio e o cobra à parte.',
  'sandbox-cached': 'Lê metade do prompt do cache.',
  'sandbox-no-usage': 'Não informa o consumo.',
  'sandbox-overrun': 'Informa mais consumo do que lhe foi permitido.',
  'sandbox-split': 'Envia a resposta cortada em lugares estranhos.',
  'sandbox-flaky': 'Falha uma vez sim, outra não.',
  'sandbox-error-400': 'Recusa a requisição.',
  'sandbox-error-401': 'Recusa a credencial do gateway.',
  'sandbox-error-429': 'Está sempre ocupado.',
  'sandbox-error-500': 'Falha por dentro.',
  'sandbox-error-503': 'Está em manutenção.',
  'sandbox-html-error': 'Responde uma página de erro.',
  'sandbox-error-in-stream': 'Falha no meio da resposta.',
  'sandbox-cut-stream': 'Corta a conexão no meio da resposta.',
  'sandbox-stall': 'Começa a responder e para.',
  'sandbox-hang': 'Nunca responde.',
  'sandbox-garbage': 'Responde algo que não é JSON.',
}

const PRICE = {
  input: 1_000_000n,
  cachedInput: 500_000n,
  cacheWrite: 1_000_000n,
  output: 2_000_000n,
  reasoning: 2_000_000n,
}
/** The big answer has nearly half a million tokens; the others stay small, so that a hold does too. */
const BIG_OUTPUT_TOKENS = 600_000

export const sandboxModels: readonly Model[] = Object.entries(SHOWS).map(([id, description]) => ({
  id,
  displayName: id,
  category: 'llm',
  description,
  vendor: 'sandbox',
  markupE4: 12_500n,
  price: { tiers: [{ abovePromptTokens: 0, ...PRICE }] },
  contextTokens: id === 'sandbox-big' ? 1_000_000 : 128_000,
  outputTokensMax: id === 'sandbox-big' ? BIG_OUTPUT_TOKENS : 4_096,
  imageTokensMax: 1_000,
  tokenizer: 'o200k_base',
  supportsTools: true,
  routes: [{ upstreamId: 'sandbox', upstreamModel: id }],
}))
