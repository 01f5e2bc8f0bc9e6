import { html } from '../../../platform/lib/html.ts'
import {
  curlSample,
  javascriptSample,
  PLACE_OF_SECRET,
  pythonSample,
} from '../../pages/code-samples.ts'
import { section, type Guide } from '../doc-page.ts'
import { codeBlock, sampleTabs } from '../sample-blocks.ts'

const MESSAGES = [{ role: 'user', content: 'Extraia o pedido: duas pizzas para Ana, em Recife.' }]
const SCHEMA = {
  type: 'object',
  properties: {
    cliente: { type: 'string' },
    cidade: { type: 'string' },
    quantidade: { type: 'integer' },
  },
  required: ['cliente', 'cidade', 'quantidade'],
  additionalProperties: false,
}
const FORMAT = {
  type: 'json_schema',
  json_schema: { name: 'pedido', strict: true, schema: SCHEMA },
}

export const structuredOutputsGuide: Guide = {
  slug: 'respostas-estruturadas',
  title: 'Respostas estruturadas',
  description: 'Receba JSON que um programa pode ler: no formato de um esquema seu, ou livre.',
  sections: ({ origin, models }) => {
    const use = { origin, secret: PLACE_OF_SECRET }
    const name = JSON.stringify(models.chat)
    return [
      section(
        'esquema',
        'No formato de um esquema',
        html`<p>
            Com <code>response_format</code> do tipo <code>json_schema</code>, a resposta segue o
            seu esquema. <code>strict</code> pede que ela o siga à risca.
          </p>
          ${sampleTabs('esquema', [
            curlSample(use, '/chat/completions', {
              model: models.chat,
              messages: MESSAGES,
              response_format: FORMAT,
            }),
            pythonSample(
              use,
              `from pydantic import BaseModel

class Pedido(BaseModel):
    cliente: str
    cidade: str
    quantidade: int

resposta = client.chat.completions.parse(
    model=${name},
    messages=[{"role": "user", "content": "${MESSAGES[0]?.content ?? ''}"}],
    response_format=Pedido,
)
print(resposta.choices[0].message.parsed)`,
            ),
            javascriptSample(
              use,
              `const resposta = await client.chat.completions.create({
  model: ${name},
  messages: [{ role: 'user', content: '${MESSAGES[0]?.content ?? ''}' }],
  response_format: ${JSON.stringify(FORMAT, null, 2).replaceAll('\n', '\n  ')},
})
console.log(JSON.parse(resposta.choices[0].message.content))`,
            ),
          ])}`,
      ),
      section(
        'livre',
        'JSON livre',
        html`<p>
            O tipo <code>json_object</code> garante um objeto JSON, sem esquema. Diga na mensagem
            que campos você espera.
          </p>
          ${codeBlock(
            'Um objeto JSON',
            curlSample(use, '/chat/completions', {
              model: models.chat,
              messages: [{ role: 'user', content: 'Em JSON, com nome e capital: o Ceará.' }],
              response_format: { type: 'json_object' },
            }).code,
            'curl',
          )}`,
      ),
      section(
        'cuidados',
        'Cuidados',
        html`<ul>
          <li>
            Se o <code>finish_reason</code> é <code>length</code>, o JSON foi cortado: aumente
            <code>max_tokens</code>.
          </li>
          <li>
            O quanto um modelo segue o esquema depende dele. Valide o que recebe, como faria com
            qualquer entrada.
          </li>
        </ul>`,
      ),
    ]
  },
}
