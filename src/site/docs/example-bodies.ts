/** A body for each operation that takes one; a test validates each against its schema. */
import type { ExampleModels } from './doc-page.ts'

const ID = '1f81eb52-5198-4599-803e-771906343485'
const OLA = [{ role: 'user', content: 'Olá!' }]
const REASON = 'Pedido do cliente no chamado 1234'

export function exampleBodies(models: ExampleModels): Readonly<Record<string, object>> {
  return {
    'POST /chat/completions': { model: models.chat, messages: OLA },
    'POST /completions': { model: models.chat, prompt: 'Olá!', max_tokens: 1000 },
    'POST /responses': { model: models.chat, input: 'Olá!' },
    'POST /responses/compact': { model: models.chat, input: OLA },
    'POST /responses/input_tokens': { model: models.chat, input: 'Olá!' },
    'POST /messages': { model: models.chat, max_tokens: 1000, messages: OLA },
    'POST /messages/count_tokens': { model: models.chat, messages: OLA },
    'POST /embeddings': { model: models.embedding, input: 'Olá!' },
    'POST /rerank': {
      model: models.rerank,
      query: 'Como peço reembolso?',
      documents: ['O reembolso é pedido em Saldo.', 'O saldo não vence.'],
      top_n: 1,
    },
    'POST /moderations': { model: models.moderation, input: 'Olá!' },
    'POST /images/generations': { model: models.image, prompt: 'Uma catraca de metrô' },
    'POST /images/edits': {
      model: models.image,
      prompt: 'A mesma catraca, à noite',
      image: '@catraca.png',
    },
    'POST /audio/speech': { model: models.speech, input: 'Olá!', voice: 'alloy' },
    'POST /videos': { model: models.video, prompt: 'Uma catraca de metrô', seconds: '8' },
    'POST /audio/transcriptions': { model: models.audio, file: '@reuniao.mp3' },
    'POST /audio/translations': { model: models.audio, file: '@reuniao.mp3' },
    'POST /files': { file: '@linhas.jsonl', purpose: 'batch' },
    'POST /batches': {
      input_file_id: 'file-0190a3b25f1d7c3e8a4b6d2f1e0c9b8a',
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    },
    'POST /messages/batches': {
      requests: [
        { custom_id: 'linha-1', params: { model: models.chat, max_tokens: 1000, messages: OLA } },
      ],
    },
    'POST /me/prompts': { name: 'Resumo', body: 'Resuma em uma frase: {{texto}}' },
    'PATCH /me/prompts/{id}': { body: 'Resuma em duas frases: {{texto}}' },
    'POST /me/prompts/{id}/run': { api_key: 'sk-svc-…', values: { texto: 'Era uma vez…' } },
    ...BODIES,
  }
}

const BODIES: Readonly<Record<string, object>> = {
  'POST /api-keys': {
    name: 'produção',
    model_ids: ['*'],
    day_cap_brl: 50,
    requests_per_minute: 300,
  },
  'PATCH /api-keys/{id}': { day_cap_brl: 100 },
  'POST /api-keys/bulk-revoke': { ids: [ID] },
  'POST /me/panic': { confirm: true },
  'POST /leaked-keys': { key: 'sk-svc-…' },
  'PUT /me/profile': { full_name: 'Maria Souza', cpf_cnpj: '529.982.247-25' },
  'PUT /me/preferences': { timezone: 'America/Sao_Paulo', weekly_digest_enabled: true },
  'PUT /me/shield': { action: 'mask' },
  'PUT /me/spending-guard': { factor: 10, floor_brl: 200 },
  'DELETE /me': { confirm: 'maria@exemplo.com.br' },
  'POST /me/public-bills': { usage_event_id: ID },
  'POST /me/teams': { name: 'Dados', monthly_cap_brl: 500 },
  'PATCH /me/teams/{id}': { monthly_cap_brl: 800 },
  'PATCH /me/teams/{id}/members/{customerId}': { role: 'admin' },
  'POST /me/teams/{id}/invitations': { email: 'joao@exemplo.com.br', role: 'member' },
  'POST /me/invitations/accept': { token: 'codigo-do-convite' },
  'POST /me/teams/{id}/keys': { name: 'notebook do João', model_ids: ['*'] },
  'POST /me/alerts': {
    name: 'Saldo baixo',
    kind: 'balance_below',
    threshold: 50,
    channels: ['email'],
  },
  'PATCH /me/alerts/{id}': { threshold: 100 },
  'POST /webhooks': {
    url: 'https://exemplo.com.br/webhooks/catraca',
    event_types: ['topup.paid', 'balance.low'],
  },
  'PATCH /webhooks/{id}': { is_enabled: true },
  'POST /usage/destinations': {
    kind: 'langfuse',
    url: 'https://cloud.langfuse.com',
    public_key: 'pk-lf-1234',
    secret_key: 'sk-lf-5678',
  },
  'PATCH /usage/destinations/{id}': { includes_content: true },
  'POST /payment-methods': {
    card: {
      holder_name: 'MARIA SOUZA',
      number: '4444444444444444',
      expiry_month: '12',
      expiry_year: '2030',
      ccv: '123',
    },
    holder: {
      name: 'Maria Souza',
      email: 'maria@exemplo.com.br',
      cpf_cnpj: '529.982.247-25',
      postal_code: '01310-100',
      address_number: '1000',
      phone: '11 99999-9999',
    },
  },
  'POST /topups': { amount: 50, method: 'pix' },
  'PUT /topups/automatic': { threshold_brl: 20, amount_brl: 100, payment_method_id: ID },
  'POST /me/refunds': { amount: 25, reason: 'Não vou usar' },
  'POST /admin/customers/{id}/suspend': { reason: 'Falta o contrato social da empresa.' },
  'POST /admin/customers/{id}/notes': { note: 'Ligou sobre a recarga de ontem.' },
  'POST /admin/customers/{id}/second-factor/reset': {
    reason: 'Ligou do telefone do cadastro e confirmou as últimas recargas.',
  },
  'POST /admin/fx-rates': { rate: 5.4321, reason: 'O Banco Central não responde.' },
  'POST /admin/fx-rates/{id}/withdraw': { reason: 'Erro de digitação' },
  'POST /admin/upstream-costs': { upstream: 'openai', csv: 'day,cost_usd\n2026-01-02,12.34' },
  'POST /admin/models/{id}/disable': { reason: 'Respostas erradas do provedor' },
  'POST /admin/models/{id}/markup': { markup_multiplier: 1.3, reason: 'Novo contrato' },
  'POST /admin/markups': { vendor: 'openai', markup_multiplier: 1.2, reason: 'Novo contrato' },
  'PUT /admin/models/{id}': {
    category: 'llm',
    prices: { input: '0.2', output: '0.6' },
    context_tokens: 128_000,
    max_output_tokens: 16_384,
    routes: [{ upstream: 'vllm', model: 'llama-4', priority: 0, weight: 1 }],
  },
  'POST /admin/upstreams': { id: 'deepseek', kind: 'deepseek', api_key: 'a-chave-do-provedor' },
  'PATCH /admin/upstreams/{id}': { state: 'paused' },
  'POST /admin/price-updates/{id}/approve': { difference: 'input 0.15 -> 0.18' },
  'POST /admin/price-updates/{id}/reject': { difference: 'input 0.15 -> 0.18' },
  'POST /admin/service/pause': { reason: 'Manutenção do banco de dados' },
  'POST /admin/incidents': { title: 'Lentidão', message: 'Estamos investigando.' },
  'PATCH /admin/incidents/{id}': { message: 'Resolvido.', status: 'resolved' },
  'POST /admin/refunds/{id}/reject': { note: 'A recarga já foi gasta.' },
  'POST /admin/refunds/{id}/complete': { outcome: 'done' },
  'POST /admin/reconciliation/differences/{id}/explain': { explanation: 'Tarifa do processador' },
  'POST /admin/adjustments': { customer_id: ID, kind: 'credit', amount_brl: 10, reason: REASON },
}
