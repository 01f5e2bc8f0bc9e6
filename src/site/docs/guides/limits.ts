import { html } from '../../../platform/lib/html.ts'
import { PLACE_OF_SECRET } from '../../pages/code-samples.ts'
import { section, type Guide, table } from '../doc-page.ts'
import { codeBlock } from '../sample-blocks.ts'

export const limitsGuide: Guide = {
  slug: 'limites',
  title: 'Limites',
  description: 'Requisições por minuto, tamanhos, e os cabeçalhos que dizem quanto resta.',
  sections: ({ origin }) => [
    section(
      'cabecalhos',
      'Os cabeçalhos de toda resposta',
      html`${table(
        'Cabeçalhos',
        ['Cabeçalho', 'O que diz'],
        [
          [
            'x-ratelimit-limit',
            'Requisições por minuto da chave; sem uma chave válida, as do endereço IP.',
          ],
          ['x-ratelimit-remaining', 'Quantas restam neste minuto.'],
          ['x-ratelimit-reset', 'Quando a contagem recomeça, em segundos Unix.'],
          ['retry-after', 'Num 429 e em alguns 503: em quantos segundos tentar de novo.'],
          [
            'x-request-id',
            'O id da chamada. Envie o seu, um UUID, em x-svc-request-id, se quiser.',
          ],
        ],
      )}
      ${codeBlock(
        'Ver os cabeçalhos',
        `curl -i ${origin}/v1/usage \\
  -H "Authorization: Bearer ${PLACE_OF_SECRET}"`,
        'curl',
      )}`,
    ),
    section(
      'chave',
      'Por chave',
      html`<p>
          Uma chave nova faz até 120 requisições por minuto. Você muda isso na chave, até 10.000, e
          pode limitar também os tokens por minuto e as chamadas ao mesmo tempo. O limite não é do
          endereço: uma chave com 600 por minuto faz 600 de um só servidor.
        </p>
        ${codeBlock(
          'Quanto dos limites cada chave usa',
          `curl "${origin}/v1/usage/rate-limit?minutes=60" \\
  -H "Authorization: Bearer ${PLACE_OF_SECRET}"`,
          'curl',
        )}`,
    ),
    section(
      'endereco',
      'Por endereço',
      html`<p>
        Requisições sem uma chave válida contam para o endereço IP: até 100 por minuto, se a
        operação não mudou esse número. Isso protege de quem tenta adivinhar chaves.
      </p>`,
    ),
    section(
      'tamanhos',
      'Tamanhos',
      html`<ul>
        <li>
          O corpo de uma chamada de modelo: 20 MB; o das outras operações: 256 kB. Corpos podem vir
          em gzip, deflate, br ou zstd; vale o tamanho descomprimido.
        </li>
        <li>
          A saída: <code>max_tokens</code> acima do máximo do modelo, ou do que o saldo cobre, é
          reduzido. O <code>finish_reason</code> <code>length</code> diz que havia mais.
        </li>
        <li>Uma lista de embeddings: 2.048 textos. Imagens de uma vez: dez.</li>
      </ul>`,
    ),
    section(
      'passou',
      'Se passar do limite',
      html`<p>
        A resposta é <a href="/docs/erros#api_key_rate_limited"><code>429</code></a
        >, com <code>retry-after</code>, e nada é cobrado. Veja
        <a href="/docs/erros#repetir">quando tentar de novo</a>.
      </p>`,
    ),
  ],
}
