import { html } from '../../../platform/lib/html.ts'
import { t } from '../../../platform/lib/language.ts'
import { chatSamples, PLACE_OF_SECRET } from '../../pages/code-samples.ts'
import { section, type Guide } from '../doc-page.ts'
import { codeBlock, sampleTabs } from '../sample-blocks.ts'

export const firstCallGuide: Guide = {
  slug: 'primeira-chamada',
  title: 'Primeira chamada',
  description: 'Da conta nova à primeira resposta de um modelo, com o custo dela em reais.',
  sections: ({ origin, models }) => [
    section(
      'chave',
      '1. Crie uma conta e uma chave',
      html`<p>
          <a href="/cadastrar">Crie uma conta</a>, faça uma recarga por Pix (ou peça o crédito para
          experimentar, se o painel o oferecer) e crie uma chave em <strong>Chaves</strong>, no
          painel. O segredo começa com <code>sk-svc-</code> e só aparece uma vez: guarde-o numa
          variável de ambiente, nunca no código.
        </p>
        <p>
          Nos exemplos daqui, ponha a sua chave no lugar de <code>${t(PLACE_OF_SECRET)}</code>.
        </p>`,
    ),
    section(
      'chamar',
      '2. Chame um modelo',
      html`<p>
          A API fala o formato chat completions: na biblioteca da OpenAI só mudam o endereço e a
          chave. O endereço base é <code>${origin}/v1</code>.
        </p>
        ${sampleTabs('primeira chamada', chatSamples({ origin, secret: PLACE_OF_SECRET, model: models.chat }))}`,
    ),
    section(
      'resposta',
      '3. Leia a resposta e o custo',
      html`<p>
          A resposta tem o texto em <code>choices[0].message.content</code>, os tokens em
          <code>usage</code> e, em <code>cost_billed_brl</code>, o valor que saiu do saldo, exato,
          em reais.
        </p>
        ${codeBlock(
          'Uma resposta (valores de exemplo)',
          JSON.stringify(
            {
              id: 'chatcmpl-…',
              object: 'chat.completion',
              model: models.chat,
              choices: [
                {
                  index: 0,
                  message: { role: 'assistant', content: 'Olá! Como posso ajudar?' },
                  finish_reason: 'stop',
                },
              ],
              usage: { prompt_tokens: 9, completion_tokens: 12, total_tokens: 21 },
              cost_billed_brl: 0.000061425,
            },
            null,
            2,
          ),
        )}`,
    ),
    section(
      'modelos',
      'Escolha outro modelo',
      html`<p>
          Troque o campo <code>model</code> por qualquer id do <a href="/modelos">catálogo</a>.
          Todos os modelos de chat respondem também nos formatos Responses
          (<code>/v1/responses</code>) e Messages (<code>/v1/messages</code>).
        </p>
        ${codeBlock(
          'Os modelos que a sua chave pode chamar',
          `curl ${origin}/v1/models \\
  -H "Authorization: Bearer ${PLACE_OF_SECRET}"`,
          'curl',
        )}
        <p>
          Com <code>models</code> você lista até cinco modelos de reserva, para quando o primeiro
          não responde. O campo <code>model</code> da resposta diz qual respondeu, e o preço cobrado
          é o dele.
        </p>
        <p>
          Com <code>provider</code> você escolhe quem responde: <code>only</code>,
          <code>ignore</code> e <code>order</code> com nomes de provedores,
          <code>max_price</code> com o máximo que você paga, em USD por milhão de tokens,
          <code>data_collection</code> e <code>sort</code>. <code>:floor</code> depois do nome do
          modelo tenta primeiro o mais barato, e <code>:nitro</code> o mais rápido.
        </p>`,
    ),
    section(
      'proximo',
      'Depois disso',
      html`<ul>
        <li>Mostre a resposta enquanto ela é escrita: <a href="/docs/streaming">streaming</a>.</li>
        <li>
          Limite o que uma chave pode gastar:
          <a href="/docs/chaves-e-orcamentos">chaves e orçamentos</a>.
        </li>
        <li>Trate falhas: <a href="/docs/erros">erros</a>.</li>
        <li>Use no seu editor ou agente: <a href="/docs/clientes/claude-code">clientes</a>.</li>
      </ul>`,
    ),
  ],
}
