/** The values of fields with which a request succeeds, if their schema does not define them. */
import fc from '../../harness/fast-check.ts'
import { APPROVED, DECLINED, DECLINED_LATER } from '../../harness/cards.ts'
import type { Operation } from '../../harness/operations.ts'
import { Slot } from './pools.ts'
import type { Hints } from './schema-values.ts'
import { plainText } from './texts.ts'

const MODELS: Readonly<Record<string, string>> = {
  '/embeddings': 'sandbox-embedding',
  '/rerank': 'sandbox-rerank',
  '/moderations': 'sandbox-moderation',
  '/images/generations': 'sandbox-image',
  '/images/edits': 'sandbox-image',
  '/audio/speech': 'sandbox-speech',
  '/videos': 'sandbox-video',
  '/audio/transcriptions': 'sandbox-transcribe',
  '/audio/translations': 'sandbox-transcribe',
}
const CHAT_MODEL = 'sandbox-chat'
const CPF_AND_CNPJ = ['529.982.247-25', '11144477735', '11.222.333/0001-81', '12ABC34501DE35']
const ZONES = ['America/Sao_Paulo', 'UTC', 'Asia/Kathmandu', 'Pacific/Kiritimati']
const ADDRESSES = ['127.0.0.1', '::1/128', '10.0.0.0/8', '2001:db8::/32']
const WEATHER = {
  type: 'function',
  function: { name: 'clima', parameters: { type: 'object', properties: {} } },
}

const nth = fc.nat({ max: 10_000 })

function slotOf(pool: string, whose: 'own' | 'other' = 'own'): fc.Arbitrary<Slot> {
  return nth.map((at) => new Slot(pool, whose, at))
}

const FIELDS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  // Keys.
  model_ids: fc.subarray([CHAT_MODEL, 'sandbox-embedding', 'gpt-4o', 'nenhum'], { minLength: 1 }),
  ip_allowlist: fc.constantFrom(...ADDRESSES),
  expires_at: fc.constantFrom('2099-12-31T23:59:59-03:00', '2050-01-01T00:00:00.000Z'),
  ids: fc.oneof(
    { weight: 4, arbitrary: slotOf('/api-keys') },
    { weight: 1, arbitrary: slotOf('/api-keys', 'other') },
  ),
  api_key_id: slotOf('/api-keys'),
  // Prompt runs.
  api_key: fc.oneof(
    { weight: 6, arbitrary: slotOf('own secret') },
    { weight: 1, arbitrary: slotOf('secret') },
    { weight: 1, arbitrary: slotOf('secret', 'other') },
  ),
  values: fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 2, arbitrary: fc.constant({ nome: 'Ana' }) },
  ),
  default_model: fc.constant(CHAT_MODEL),
  body: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom('Diga olá.', 'Olá, {{nome}}!') },
    { weight: 10, arbitrary: plainText(1, 500) },
    { weight: 1, arbitrary: fc.constantFrom('Ç'.repeat(32_000), '{{a}}'.repeat(6_400)) },
  ),
  variables: fc.constant('nome'),
  tags: plainText(1, 24),
  // Accounts and teams.
  cpf_cnpj: fc.constantFrom(...CPF_AND_CNPJ),
  phone: fc.constantFrom('+55 11 91234-5678', '1133334444'),
  timezone: fc.constantFrom(...ZONES),
  email: fc.oneof(
    { weight: 4, arbitrary: slotOf('email', 'other') },
    { weight: 1, arbitrary: fc.emailAddress() },
  ),
  monthly_cap_brl: fc.constantFrom(0.01, 10, 99.99, 1_000_000),
  // Alerts.
  threshold: fc.constantFrom(1, 5, 12.5, 100, 0.01, 1_000_000),
  team_id: slotOf('/me/teams'),
  // Webhooks; the name does not resolve.
  url: fc.constantFrom('https://hooks.example.com/a', 'https://hooks.example.org/b?c=1'),
  event_types: fc.constantFrom('topup.paid', 'balance.depleted'),
  // Public bills: of a session or of a charge.
  session_id: slotOf('session id'),
  usage_event_id: slotOf('usage event id'),
  // Operators. Markups change in some weeks.
  customer_id: slotOf('/admin/customers'),
  reference: fc.uuid(),
  action: fc.constantFrom('team.', 'api_key', 'customer.viewed', 'none.'),
  reason: plainText(3, 60).filter((text) => text.trim() !== ''),
  title: plainText(3, 60).filter((text) => text.trim() !== ''),
  message: plainText(3, 200).filter((text) => text.trim() !== ''),
  providers: fc.constantFrom('openai', 'anthropic'),
  markup_multiplier: fc.constantFrom(1, 1.1, 1.25, 1.2501, 1.5, 10),
  starts_at: fc
    .integer({ min: 10, max: 300 })
    .map((days) => new Date(Date.now() + days * 86_400_000).toISOString()),
  q: fc.constantFrom('fuzz', 'fim-', 'Teste', '529'),
  amount: fc.constantFrom(20, 50.5, 5_000, 30, 99.5, 19.99, 20.001),
  amount_brl: fc.constantFrom(20, 50.5, 5_000, 20, 19.99),
  threshold_brl: fc.constantFrom(0, 10, 0.01, 20, 0.001),
  monthly_limit_brl: fc.constantFrom(5_000, 10_000, null, 1),
  payment_method_id: fc.oneof(
    { weight: 4, arbitrary: slotOf('/kept-cards') },
    { weight: 1, arbitrary: slotOf('/payment-methods') },
  ),
  topup_id: slotOf('/topups'),
  note: plainText(3, 60),
  card: fc.record({
    holder_name: fc.constantFrom('ANA SOUZA', 'ANA SOUZA', 'ANA 2'),
    number: fc.constantFrom(APPROVED, APPROVED, APPROVED, DECLINED, DECLINED_LATER, '1234'),
    expiry_month: fc.constantFrom('12', '1', '1', '13'),
    expiry_year: fc.constantFrom('2099', '2099', '2001'),
    ccv: fc.constantFrom('318', '1234'),
  }),
  holder: fc.record({
    name: plainText(1, 50),
    email: fc.emailAddress(),
    cpf_cnpj: fc.constantFrom(...CPF_AND_CNPJ),
    postal_code: fc.constantFrom('01310-100', '01310100'),
    address_number: plainText(1, 20),
    phone: fc.constantFrom('(11) 91234-5678', '1133334444'),
  }),
  limit_usd: fc.constantFrom(0, 1, 12.5, 0.000_001),
  token: slotOf('token'),
  // A deletion of an account is expensive.
  confirm: fc.oneof(
    { weight: 1, arbitrary: slotOf('email') },
    { weight: 2, arbitrary: fc.constant('outra@exemplo.com.br') },
  ),
  // Batches.
  input_file_id: fc.oneof(
    { weight: 4, arbitrary: slotOf('/kept-files') },
    { weight: 1, arbitrary: slotOf('/files') },
  ),
  endpoint: fc.constant('/v1/chat/completions'),
  // What operators write.
  upstream: fc.constant('sandbox'),
  csv: fc.constant('day,cost_usd\n2026-01-02,0'),
  rate: fc.constantFrom(5.2, 5.21, 0.1, 5.55555),
  rate_date: fc.constant('2026-01-02'),
  prices: fc.constant({ input: '1', output: '2' }),
  price_schedule: fc.constant({
    starts_at: '2099-01-01T00:00:00Z',
    prices: { input: '1', output: '2' },
  }),
  // Model calls.
  stored_responses_days: fc.constantFrom(1, 7, 30, 7, null),
  previous_response_id: fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 6, arbitrary: slotOf('/responses') },
    { weight: 1, arbitrary: slotOf('/responses', 'other') },
  ),
  messages: fc.oneof(
    plainText(1, 50).map((content) => ({ role: 'user', content })),
    fc.constant({ role: 'user', content: [{ type: 'text', text: 'Olá' }] }),
  ),
  tools: fc.constant(WEATHER),
  response_format: fc.constantFrom({ type: 'text' }, { type: 'json_object' }),
  max_tokens: fc.constantFrom(1, 16, 64),
  size: fc.constant('256x256'),
  n: fc.constant(1),
  quality: fc.constantFrom('low', 'medium'),
  image: fc.constant('RIFF0000WEBPVP8 '),
  file: fc.constantFrom('ID3x', 'ID3'.repeat(400)),
  language: fc.constantFrom('pt', 'en'),
  temperature: fc.constantFrom(0, 0.5, 1),
  dimensions: fc.constantFrom(1, 8, 256),
}

const USER = { role: 'user', content: 'Olá' }
const MADE = { type: 'function_call', call_id: 'c1', name: 'clima', arguments: '{}' }
const RESULT = { type: 'function_call_output', call_id: 'c1', output: 'sol' }

/** By the path and the field: the formats of chats have other forms of the same fields. */
const OF_FORMATS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  '/messages tools': fc.constant({ name: 'clima', input_schema: { type: 'object' } }),
  '/messages/count_tokens tools': fc.constant({ name: 'clima', input_schema: { type: 'object' } }),
  '/messages system': fc.constantFrom('Seja breve.', [{ type: 'text', text: 'Seja breve.' }]),
  '/responses tools': fc.constantFrom(
    { type: 'function', name: 'clima', parameters: { type: 'object' } },
    { type: 'custom', name: 'clima' },
    { type: 'web_search' },
  ),
  '/responses input': fc.oneof(
    plainText(1, 50),
    fc.constantFrom(USER, MADE, RESULT),
    fc
      .oneof(slotOf('/responses'), slotOf('/responses', 'other'))
      .map((id) => ({ type: 'item_reference', id })),
  ),
}

/** Most of the fields of a model belong to one category each, so fields that are chosen one by one are refused. */
const MODEL = {
  category: 'llm',
  prices: { input: '0.2', output: '0.6' },
  context_tokens: 128_000,
  max_output_tokens: 16_384,
  routes: [{ upstream: 'sandbox', model: CHAT_MODEL }],
}

/** The bodies of operations that refuse most combinations of their fields. Half of their sound requests have this one. */
export const BODIES: Readonly<Record<string, unknown>> = { 'PUT /admin/models/{id}': MODEL }

/** Some amounts are large enough to wait for a second operator. */
const adjustedBrl = fc.constantFrom(0.01, 12.34, 500, 500.01, 700)

export function hintsFor({ path }: Operation): Hints {
  const model = fc.constant(MODELS[path] ?? CHAT_MODEL)
  return (field) => {
    if (field === 'model' || field === 'models') return model
    if (field === 'amount_brl' && path === '/admin/adjustments') return adjustedBrl
    if (field === 'cursor') return slotOf(`cursor of ${path}`)
    const ofFormat = OF_FORMATS[`${path} ${field}`]
    if (ofFormat) return ofFormat
    return field === 'name' ? plainText(3, 50) : FIELDS[field]
  }
}
