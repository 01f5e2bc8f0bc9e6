import { Field } from '../../components/Field.tsx'
import { TextArea } from '../../components/TextArea.tsx'
import type { Draft } from './use-draft.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** The saved prompt that was opened here: its name, and a field for each variable. */
export function PromptFields({ draft }: { readonly draft: Draft }) {
  const { prompt, variables, values, missing, fill } = draft
  if (!prompt) return null
  return (
    <fieldset className="grid max-h-[40dvh] gap-3 overflow-y-auto rounded-lg bg-sunken p-3">
      <legend className="sr-only">
        <Trans id="Prompt {name}" values={{ name: prompt.name }} />
      </legend>
      <p className="text-sm">
        <Trans id="Prompt {strong}" values={{ strong: <strong>{prompt.name}</strong> }} />
        {variables.length > 0 && t(': preencha e envie.')}
      </p>
      {variables.length > 0 && (
        <div className="grid gap-3 sm:grid-cols-2">
          {variables.map((name) => (
            <Field
              key={name}
              label={name}
              error={missing.includes(name) && t('Preencha para enviar.')}
            >
              {(control) => (
                <TextArea
                  {...control}
                  rows={1}
                  className="max-h-32"
                  value={values[name] ?? ''}
                  onChange={(event) => fill(name, event.target.value)}
                />
              )}
            </Field>
          ))}
        </div>
      )}
    </fieldset>
  )
}
