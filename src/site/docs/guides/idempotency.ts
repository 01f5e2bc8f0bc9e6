import { html } from '../../../platform/lib/html.ts'
import { t } from '../../../platform/lib/language.ts'
import { IDEMPOTENCY_HOURS } from '../../../platform/idempotency/idempotency-records.ts'
import { PLACE_OF_SECRET } from '../../pages/code-samples.ts'
import { section, type Guide, table } from '../doc-page.ts'
import { codeBlock } from '../sample-blocks.ts'

export const idempotencyGuide: Guide = {
  slug: 'idempotencia',
  title: 'Idempotency-Key',
  description: 'Repita uma requisição cuja resposta se perdeu, sem que nada aconteça duas vezes.',
  sections: ({ origin }) => [
    section(
      'usar',
      'Como usar',
      html`<p>
          Todo <code>POST</code> que cria algo ou move dinheiro aceita o cabeçalho
          <code>Idempotency-Key</code>: um valor seu, de 1 a 255 caracteres visíveis, novo para cada
          operação, como um UUID. Se a resposta se perder, repita a mesma requisição com o mesmo
          valor.
        </p>
        ${codeBlock(
          'Uma recarga que não se duplica (o perfil precisa ter CPF ou CNPJ)',
          `curl ${origin}/v1/topups \\
  -H "Authorization: Bearer ${PLACE_OF_SECRET}" \\
  -H "Idempotency-Key: 1f81eb52-5198-4599-803e-771906343485" \\
  -H "Content-Type: application/json" \\
  -d '{"amount":50}'`,
          'curl',
        )}`,
    ),
    section(
      'respostas',
      'O que responde',
      table(
        'Respostas',
        [t`Em ${IDEMPOTENCY_HOURS} horas você envia`, 'A resposta'],
        [
          [
            'o mesmo valor e a mesma requisição',
            'A da primeira, com o cabeçalho idempotent-replayed: true.',
          ],
          [
            'o mesmo, enquanto a primeira ainda corre',
            '409 idempotency_key_in_use, com retry-after.',
          ],
          ['o mesmo valor com outra requisição', '422 idempotency_key_reused; nada acontece.'],
        ],
      ),
    ),
    section(
      'guardado',
      'O que fica guardado',
      html`<ul>
        <li>
          Resultados: sucessos, e recusas do próprio ato, como um cartão recusado. Uma requisição
          recusada antes de agir (400, 403, 404, 409, 429) ou que termina em 500 ou 503 não deixa
          nada, e pode ser repetida com o mesmo valor.
        </li>
        <li>
          O valor é da chave de API que o envia. O mesmo valor de outra chave é outra requisição.
        </li>
        <li>Chamadas de modelos ignoram o cabeçalho: cada uma é uma chamada, cobrada como tal.</li>
      </ul>`,
    ),
  ],
}
