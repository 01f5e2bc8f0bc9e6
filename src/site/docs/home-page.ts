/** `/docs`: where to begin, and everything there is. */
import { html } from '../../platform/lib/html.ts'
import { chatSamples, PLACE_OF_SECRET } from '../pages/code-samples.ts'
import type { DocGroup, DocPage, GuideFacts } from './doc-page.ts'
import { sampleTabs } from './sample-blocks.ts'

export function homePage(groups: readonly DocGroup[], { origin, models }: GuideFacts): DocPage {
  const use = { origin, secret: PLACE_OF_SECRET, model: models.chat }
  return {
    path: '/docs',
    title: 'Documentação para desenvolvedores',
    description:
      'Guias com código que roda, e a referência de cada operação da API, com o que ela custa e exige.',
    sections: [],
    content: html`<p>
        Endereço base: <code>${origin}/v1</code>. Autenticação: o cabeçalho
        <code>Authorization: Bearer</code> com uma chave do painel. Para programas, a descrição da
        API em OpenAPI 3.1: <a href="/v1/openapi.json"><code>/v1/openapi.json</code></a
        >.
      </p>
      ${sampleTabs('primeira chamada', chatSamples(use))}
      <div class="acts">
        <a class="button" href="/docs/primeira-chamada">Fazer a primeira chamada</a
        ><a class="button plain" href="/docs/referencia/chamadas-de-modelos">Abrir a referência</a>
      </div>
      ${groups.map(
        ({ title, links }) =>
          html`<section>
            <h2>${title}</h2>
            <dl class="fields-of list">
              ${links.map(
                (link) =>
                  html`<div>
                    <dt><a href="${link.path}">${link.title}</a></dt>
                    <dd class="muted">${link.description}</dd>
                  </div>`,
              )}
            </dl>
          </section>`,
      )}`,
  }
}
