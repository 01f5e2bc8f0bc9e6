import { html, type Html } from '../../platform/lib/html.ts'

/** Shows a table. `label` is unique on its page. The first column is code. */
export function table(
  label: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): Html {
  return html`<div class="scroll" role="region" aria-label="Tabela: ${label}" tabindex="0">
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([first, ...rest]) =>
            html`<tr>
              <th scope="row"><span>${first}</span></th>
              ${rest.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
