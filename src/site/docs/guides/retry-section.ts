import { html } from '../../../platform/lib/html.ts'
import { PLACE_OF_SECRET } from '../../pages/code-samples.ts'
import { section, type DocSection, type GuideFacts } from '../doc-page.ts'
import { sampleTabs } from '../sample-blocks.ts'

const ATTEMPTS_MAX = 5
const WAIT_SECONDS_MAX = 30

/** When and how to try again; of the page of errors. */
export function retryGuideSection({ origin, models }: GuideFacts): DocSection {
  const options = (separator: string) =>
    `base_url="${origin}/v1", api_key="${PLACE_OF_SECRET}"${separator}`
  return section(
    'repetir',
    'Quando tentar de novo',
    html`<p>
        Repita só <code>429</code> e <code>5xx</code>, no máximo ${ATTEMPTS_MAX} vezes. Espere
        <code>retry-after</code> segundos (1 se ele falta), vezes 2 a cada tentativa, até
        ${WAIT_SECONDS_MAX} segundos. Repetir um 400, 402 ou 403 não muda nada. As bibliotecas da
        OpenAI e da Anthropic já repetem sozinhas; você só escolhe quantas vezes.
      </p>
      ${sampleTabs('tentar de novo', [
        {
          id: 'python',
          client: 'Python',
          code: `# pip install openai
from openai import OpenAI

client = OpenAI(${options(`, max_retries=${ATTEMPTS_MAX}`)})`,
        },
        {
          id: 'javascript',
          client: 'JavaScript, sem biblioteca',
          code: `async function chamar(corpo) {
  for (let tentativa = 0; ; tentativa++) {
    const resposta = await fetch('${origin}/v1/chat/completions', {
      method: 'POST',
      headers: {
        Authorization: 'Bearer ${PLACE_OF_SECRET}',
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(corpo),
    })
    const podeRepetir = resposta.status === 429 || resposta.status >= 500
    if (!podeRepetir || tentativa === ${ATTEMPTS_MAX}) return resposta
    const segundos = Number(resposta.headers.get('retry-after') ?? 1) * 2 ** tentativa
    await new Promise((pronto) => setTimeout(pronto, Math.min(segundos, ${WAIT_SECONDS_MAX}) * 1000))
  }
}

const resposta = await chamar({
  model: ${JSON.stringify(models.chat)},
  messages: [{ role: 'user', content: 'Olá!' }],
})
console.log(await resposta.text())`,
        },
      ])}
      <p>
        Uma chamada de modelo repetida é outra chamada, e é cobrada se responder. Operações que
        criam algo ou movem dinheiro têm a <a href="/docs/idempotencia">Idempotency-Key</a>, e não
        acontecem duas vezes.
      </p>`,
  )
}
