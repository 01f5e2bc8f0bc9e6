import { html } from '../../../platform/lib/html.ts'
import { t } from '../../../platform/lib/language.ts'
import { PLACE_OF_SECRET } from '../../pages/code-samples.ts'
import { section, type Guide, table } from '../doc-page.ts'
import { codeBlock } from '../sample-blocks.ts'

export const billingGuide: Guide = {
  slug: 'cobranca',
  title: 'Como cada cobrança é calculada',
  description: 'Uma multiplicação que você pode refazer: custo em dólares × PTAX × multiplicador.',
  sections: ({ origin }) => [
    section(
      'formula',
      'A conta',
      html`<p>
          <code>cost_billed_brl = cost_upstream_usd × fx_rate × markup_multiplier</code>,
          arredondado uma única vez, na nona casa decimal.
        </p>
        ${table(
          'Fatores',
          ['Fator', 'O que é'],
          [
            [
              'cost_upstream_usd',
              'Os tokens (ou segundos, ou imagens) vezes o preço do fabricante em dólares.',
            ],
            ['fx_rate', 'A PTAX de venda do Banco Central em vigor no início da chamada.'],
            ['markup_multiplier', 'O multiplicador do modelo, que está no catálogo.'],
          ],
        )}
        <p>
          Cada cobrança guarda os três números. O painel refaz a conta no seu navegador, e os preços
          já em reais estão em <a href="/modelos">modelos e preços</a>.
        </p>`,
    ),
    section(
      'exemplo',
      'Um exemplo',
      html`<p>
          Um modelo que custa US$ 0,15 por milhão de tokens de entrada e US$ 0,60 por milhão de
          saída; 1.000 tokens de entrada e 500 de saída; PTAX de 5,40; multiplicador de 1,25:
        </p>
        ${codeBlock(
          'A conta do exemplo',
          t(`1.000 × US$ 0,00000015   = US$ 0,00015
  500 × US$ 0,00000060   = US$ 0,00030
custo do fabricante      = US$ 0,00045
× 5,40 × 1,25            = R$ 0,0030375`),
        )}`,
    ),
    section(
      'reserva',
      'Reserva antes, cobrança depois',
      html`<p>
        Antes de a chamada sair, o máximo que ela pode custar é reservado no saldo; depois é cobrado
        só o que foi usado, e o resto volta na hora. Por isso o saldo nunca fica devendo por várias
        chamadas ao mesmo tempo. Um <code>max_tokens</code> menor reserva menos.
      </p>`,
    ),
    section(
      'falhas',
      'O que custa uma chamada que não termina',
      html`<ul>
        <li>Recusada, ou que falha antes da resposta: nada.</li>
        <li>Sem stream, que o modelo não termina no tempo limite: nada.</li>
        <li>Em stream, que o provedor interrompe: o que chegou a ser gerado.</li>
        <li>
          Que você interrompe: veja <a href="/docs/streaming#interrompido">streaming</a>. A regra
          inteira está nos <a href="/termos">termos de uso</a>.
        </li>
      </ul>`,
    ),
    section(
      'conferir',
      'Confira',
      html`<p>
          <code>cost_billed_brl</code> vem em toda resposta. As cobranças, com preço, câmbio e
          multiplicador de cada uma, estão em JSON e em CSV:
        </p>
        ${codeBlock(
          'O saldo e as cobranças mais novas',
          `curl ${origin}/v1/usage \\
  -H "Authorization: Bearer ${PLACE_OF_SECRET}"`,
          'curl',
        )}
        ${codeBlock(
          'Todas, com os fatores de cada uma',
          `curl ${origin}/v1/usage/export.json \\
  -H "Authorization: Bearer ${PLACE_OF_SECRET}"`,
          'curl',
        )}
        <p>O câmbio de cada dia é público:</p>
        ${codeBlock('As taxas aplicadas', `curl ${origin}/v1/fx-rates`, 'curl')}`,
    ),
  ],
}
