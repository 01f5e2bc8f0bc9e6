import { html } from '../../../platform/lib/html.ts'
import { curlSample, embeddingSamples, PLACE_OF_SECRET } from '../../pages/code-samples.ts'
import { section, type Guide } from '../doc-page.ts'
import { codeBlock, sampleTabs } from '../sample-blocks.ts'

export const embeddingsGuide: Guide = {
  slug: 'embeddings',
  title: 'Embeddings',
  description: 'Transforme textos em vetores, para busca, agrupamento e recomendação.',
  sections: ({ origin, models }) => {
    const use = { origin, secret: PLACE_OF_SECRET, model: models.embedding }
    return [
      section(
        'um',
        'Um texto',
        html`${sampleTabs('um texto', embeddingSamples(use))}
          <p>
            O vetor está em <code>data[0].embedding</code>. Alguns modelos aceitam
            <code>dimensions</code>, para vetores mais curtos; <code>encoding_format</code>
            <code>base64</code> deixa a resposta menor.
          </p>`,
      ),
      section(
        'muitos',
        'Muitos textos de uma vez',
        html`<p>
            <code>input</code> pode ser uma lista de até 2.048 textos; a resposta vem na mesma
            ordem. É mais rápido e custa o mesmo que um por um.
          </p>
          ${codeBlock(
            'Dois textos',
            curlSample(use, '/embeddings', {
              model: models.embedding,
              input: ['Bom dia!', 'Boa noite!'],
            }).code,
            'curl',
          )}`,
      ),
    ]
  },
}
