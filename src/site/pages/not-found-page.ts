import { html, type Html } from '../../platform/lib/html.ts'
import { layout, type SiteDeps } from './layout.ts'

export function notFoundPage(deps: SiteDeps): Html {
  return layout(
    {
      path: '/modelos',
      title: 'Modelo não encontrado · Catraca',
      description: 'Não há um modelo com esse nome no catálogo.',
      isIndexed: false,
      main: html`<div class="wrap">
        <h1>Modelo não encontrado</h1>
        <p class="lead">
          Não há um modelo com esse nome no catálogo. Ele pode ter saído, ou o endereço está errado.
        </p>
        <div class="acts"><a class="button" href="/modelos">Ver os modelos</a></div>
      </div>`,
    },
    deps,
  )
}
