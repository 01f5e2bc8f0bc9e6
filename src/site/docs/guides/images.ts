import { html } from '../../../platform/lib/html.ts'
import {
  curlSample,
  imageSamples,
  javascriptSample,
  PLACE_OF_SECRET,
  pythonSample,
} from '../../pages/code-samples.ts'
import { section, type Guide } from '../doc-page.ts'
import { sampleTabs } from '../sample-blocks.ts'

/** A dot of one pixel: a sample that runs anywhere. */
const DOT =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const imagesGuide: Guide = {
  slug: 'imagens',
  title: 'Imagens',
  description: 'Envie imagens a um modelo de chat, e gere imagens a partir de um texto.',
  sections: ({ origin, models }) => {
    const use = { origin, secret: PLACE_OF_SECRET }
    const name = JSON.stringify(models.chat)
    const part = { type: 'image_url', image_url: { url: DOT } }
    const content = [{ type: 'text', text: 'O que há nesta imagem?' }, part]
    return [
      section(
        'enviar',
        'Pergunte sobre uma imagem',
        html`<p>
            O conteúdo da mensagem é uma lista de partes. A imagem vai em base64, como no exemplo,
            ou por um endereço https público. Valem PNG, JPEG, GIF e WebP.
          </p>
          ${sampleTabs('imagem na pergunta', [
            curlSample(use, '/chat/completions', {
              model: models.chat,
              messages: [{ role: 'user', content }],
            }),
            pythonSample(
              use,
              `import base64

with open("foto.png", "rb") as arquivo:
    foto = base64.b64encode(arquivo.read()).decode()
resposta = client.chat.completions.create(
    model=${name},
    messages=[{
        "role": "user",
        "content": [
            {"type": "text", "text": "O que há nesta imagem?"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{foto}"}},
        ],
    }],
)
print(resposta.choices[0].message.content)`,
            ),
            javascriptSample(
              use,
              `import { readFile } from 'node:fs/promises'

const foto = await readFile('foto.png', 'base64')
const resposta = await client.chat.completions.create({
  model: ${name},
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'O que há nesta imagem?' },
        { type: 'image_url', image_url: { url: \`data:image/png;base64,\${foto}\` } },
      ],
    },
  ],
})
console.log(resposta.choices[0].message.content)`,
            ),
          ])}
          <p>
            Uma imagem conta como tokens do prompt, e antes da chamada reservamos o máximo que ela
            pode custar. O corpo de uma chamada pode ter até 20 MB.
          </p>
          <p>
            Documentos vão em partes <code>file</code>, com o PDF ou o texto em
            <code>file_data</code>: em base64, ou por um endereço público, que nós baixamos. Em
            Responses o endereço vai em <code>file_url</code>, e em Messages em <code>source</code>,
            com <code>"type": "url"</code>.
          </p>`,
      ),
      section(
        'gerar',
        'Gere uma imagem',
        html`${sampleTabs('imagem gerada', imageSamples({ ...use, model: models.image }))}
          <p>
            A resposta traz um endereço (<code>url</code>) que vale por uma hora: baixe a imagem, ou
            peça <code>"response_format": "b64_json"</code> para recebê-la dentro da resposta. Com
            <code>"stream": true</code>, cada imagem chega pronta em um evento, em base64.
            <code>n</code> gera até dez de uma vez; <code>size</code> e
            <code>quality</code> dependem do <a href="/modelos#image">modelo</a>.
          </p>`,
      ),
    ]
  },
}
