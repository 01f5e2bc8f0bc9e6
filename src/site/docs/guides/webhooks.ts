import { EVENT_TYPES } from '../../../platform/events/record-event.ts'
import { html } from '../../../platform/lib/html.ts'
import { curlSample, PLACE_OF_SECRET, type CodeSample } from '../../pages/code-samples.ts'
import { section, type Guide, table } from '../doc-page.ts'
import { codeBlock, sampleTabs } from '../sample-blocks.ts'

/** Older or newer deliveries are refused, so that a recorded one cannot be sent again. */
const TOLERANCE_SECONDS = 300

const PYTHON = `import base64, hashlib, hmac, time

def conferir(segredo, cabecalhos, corpo):
    """Se a entrega é da Catraca. corpo: os bytes recebidos, sem mudar nada."""
    quando = cabecalhos["webhook-timestamp"]
    if abs(time.time() - int(quando)) > ${TOLERANCE_SECONDS}:
        return False
    chave = base64.b64decode(segredo.removeprefix("whsec_"))
    assinado = f"{cabecalhos['webhook-id']}.{quando}.".encode() + corpo
    esperada = base64.b64encode(hmac.new(chave, assinado, hashlib.sha256).digest()).decode()
    # Pode haver mais de uma assinatura, separadas por espaço.
    return any(
        hmac.compare_digest(f"v1,{esperada}", dada)
        for dada in cabecalhos["webhook-signature"].split(" ")
    )`

const JAVASCRIPT = `import { createHmac, timingSafeEqual } from 'node:crypto'

/** Se a entrega é da Catraca. corpo: os bytes recebidos, sem mudar nada. */
export function conferir(segredo, cabecalhos, corpo) {
  const quando = cabecalhos['webhook-timestamp']
  if (!(Math.abs(Date.now() / 1000 - Number(quando)) <= ${TOLERANCE_SECONDS})) return false
  const chave = Buffer.from(segredo.replace(/^whsec_/, ''), 'base64')
  const esperada = createHmac('sha256', chave)
    .update(\`\${cabecalhos['webhook-id']}.\${quando}.\`)
    .update(corpo)
    .digest()
  // Pode haver mais de uma assinatura, separadas por espaço.
  return cabecalhos['webhook-signature'].split(' ').some((dada) => {
    const assinatura = Buffer.from(dada.replace(/^v1,/, ''), 'base64')
    return assinatura.length === esperada.length && timingSafeEqual(assinatura, esperada)
  })
}`

const PHP = `<?php
/** Se a entrega é da Catraca. $corpo: file_get_contents('php://input'), sem mudar nada. */
function conferir(string $segredo, array $cabecalhos, string $corpo): bool
{
    $quando = $cabecalhos['webhook-timestamp'];
    if (abs(time() - (int) $quando) > ${TOLERANCE_SECONDS}) {
        return false;
    }
    $chave = base64_decode(preg_replace('/^whsec_/', '', $segredo));
    $assinado = $cabecalhos['webhook-id'] . '.' . $quando . '.' . $corpo;
    $esperada = 'v1,' . base64_encode(hash_hmac('sha256', $assinado, $chave, true));
    foreach (explode(' ', $cabecalhos['webhook-signature']) as $dada) {
        if (hash_equals($esperada, $dada)) {
            return true;
        }
    }
    return false;
}`

export const webhookSamples: readonly CodeSample[] = [
  { id: 'python', client: 'Python', code: PYTHON },
  { id: 'javascript', client: 'JavaScript', code: JAVASCRIPT },
  { id: 'php', client: 'PHP', code: PHP },
]

const BODY = `{
  "type": "topup.paid",
  "timestamp": "2026-11-21T12:00:00.000Z",
  "data": { "id": "1f81eb52-5198-4599-803e-771906343485", "amount_brl": 50 }
}`

export const webhooksGuide: Guide = {
  slug: 'webhooks',
  title: 'Webhooks',
  description: 'Receba eventos da conta no seu servidor, assinados, e confira de quem vieram.',
  sections: ({ origin }) => [
    section(
      'criar',
      '1. Cadastre um destino',
      html`<p>
          Em <strong>Webhooks</strong>, no painel, ou pela API, com uma chave que tem a permissão
          <code>manage</code>. O endereço precisa ser https e público. O segredo das assinaturas
          (<code>signing_secret</code>, que começa com <code>whsec_</code>) só aparece nesta
          resposta.
        </p>
        ${codeBlock(
          'Cadastrar um webhook',
          curlSample({ origin, secret: PLACE_OF_SECRET }, '/webhooks', {
            url: 'https://exemplo.com.br/webhooks/catraca',
            event_types: ['topup.paid', 'balance.low'],
          }).code,
          'curl',
        )}`,
    ),
    section(
      'receber',
      '2. Receba a entrega',
      html`<p>
          Cada evento é um <code>POST</code> com JSON. O formato e as assinaturas são os de Standard
          Webhooks, que têm bibliotecas em muitas linguagens.
        </p>
        ${codeBlock('O corpo de uma entrega', BODY)}
        ${table(
          'Cabeçalhos da entrega',
          ['Cabeçalho', 'O que diz'],
          [
            [
              'webhook-id',
              'O id da mensagem, o mesmo em cada tentativa: guarde-o para não tratar duas vezes.',
            ],
            ['webhook-timestamp', 'Quando esta tentativa foi assinada, em segundos Unix.'],
            ['webhook-signature', 'v1, e a assinatura em base64.'],
            ['x-svc-delivery-id', 'O id da entrega, que o painel mostra.'],
          ],
        )}
        <p>
          Responda com qualquer <code>2xx</code> em poucos segundos e trate o evento depois. Não
          conte com a ordem: eventos podem chegar fora dela, e mais de uma vez.
        </p>`,
    ),
    section(
      'conferir',
      '3. Confira a assinatura',
      html`<p>
          A assinatura é um HMAC-SHA256 de <code>webhook-id.webhook-timestamp.corpo</code>, com o
          segredo decodificado de base64. Use os bytes do corpo como chegaram: um JSON relido e
          reescrito tem outra assinatura.
        </p>
        ${sampleTabs('conferir a assinatura', webhookSamples)}`,
    ),
    section(
      'tentativas',
      'Se o seu servidor não responde',
      html`<p>
        Tentamos dez vezes em cerca de três dias: na hora, depois de 5 segundos, 5 e 30 minutos, 2,
        5, 10, 14, 20 e 24 horas. Com <code>429</code>, <code>502</code> ou <code>504</code> vale o
        seu <code>retry-after</code>. Um destino que falha da primeira à última tentativa é
        desligado, com aviso por e-mail; um <code>410</code> desliga na hora. As tentativas de 30
        dias ficam no painel, onde você as reenvia.
      </p>`,
    ),
    section(
      'segredo',
      'Troque o segredo',
      html`<p>
        <a href="/docs/referencia/webhooks#post-webhooks-id-rotate-secret"
          >POST /v1/webhooks/{id}/rotate-secret</a
        >
        dá um segredo novo. O antigo deixa de valer na hora: aceite os dois no seu servidor enquanto
        troca, tentando um e depois o outro.
      </p>`,
    ),
    section(
      'eventos',
      'Os eventos',
      html`<p>Sem <code>event_types</code> o destino recebe todos, também os que vierem:</p>
        <ul>
          ${EVENT_TYPES.map((type) => html`<li><code>${type}</code></li>`)}
        </ul>
        <p>
          <code>POST /v1/webhooks/{id}/test</code> põe na fila um <code>webhook.test</code>, para
          você experimentar.
        </p>`,
    ),
  ],
}
