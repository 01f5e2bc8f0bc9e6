import { X } from 'lucide-react'
import { useDeferredValue, useId, useMemo, type KeyboardEvent } from 'react'
import { Field } from '../../components/Field.tsx'
import { TextArea } from '../../components/TextArea.tsx'
import { wholeNumber } from '../../format/number.ts'
import { findPlaceholders, promptParts } from '../../lib/placeholders.ts'
import type { Draft } from './prompt-draft.ts'
import { BODY_LENGTH_MAX } from './prompt-words.ts'
import { PromptText } from './PromptText.tsx'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Props {
  readonly draft: Draft
  readonly onEdit: (change: Partial<Draft>) => void
  readonly error: string | undefined
}

/** The text, its preview and its variables. */
export function BodyField({ draft, onEdit, error }: Props) {
  // The preview of a long text may lag behind the typing.
  const shown = useDeferredValue(draft.body)
  const id = useId()
  return (
    <div className="grid gap-3">
      <div className="grid gap-x-5 gap-y-4 lg:grid-cols-2">
        <Field
          label={t('Texto')}
          error={error}
          hint={t('{body} de {bodyLengthMax} caracteres', {
            body: wholeNumber(draft.body.length),
            bodyLengthMax: wholeNumber(BODY_LENGTH_MAX),
          })}
        >
          {(control) => (
            <TextArea
              {...control}
              maxLength={BODY_LENGTH_MAX}
              placeholder={t('Resuma em {{quantidade}} frases: {{texto}}')}
              value={draft.body}
              onChange={(event) => onEdit({ body: event.target.value })}
              onKeyDown={submitByShortcut}
              className="max-h-[70dvh] min-h-80 font-mono md:min-h-80"
            />
          )}
        </Field>
        <div className="flex min-w-0 flex-col gap-1.5">
          <p id={id} className="text-sm font-medium">
            {t('Como será lido')}
          </p>
          <div
            role="region"
            aria-labelledby={id}
            tabIndex={0}
            className="max-h-80 overflow-y-auto rounded-lg bg-sunken px-3 py-2.5 lg:max-h-none lg:grow lg:basis-0"
          >
            {shown === '' ? (
              <p className="text-sm text-muted">
                {t('O que você escreve aparece aqui, com as variáveis destacadas.')}
              </p>
            ) : (
              <PromptText body={shown} />
            )}
          </div>
          {/* As tall as the line under the text, so that both boxes end on the same line. */}
          <p className="text-sm text-muted">
            {t('O que muda a cada uso fica entre chaves duplas: {{assim}}.')}
          </p>
        </div>
      </div>
      <Variables body={shown} extras={draft.extraVariables} onEdit={onEdit} />
    </div>
  )
}

interface VariablesProps {
  readonly body: string
  readonly extras: readonly string[]
  readonly onEdit: Props['onEdit']
}

function Variables({ body, extras, onEdit }: VariablesProps) {
  const used = useMemo(() => findPlaceholders(body), [body])
  const others = extras.filter((name) => !used.includes(name))
  const faulty = useMemo(
    () => promptParts(body).find(({ kind }) => kind === 'not_a_variable'),
    [body],
  )
  return (
    <div className="grid gap-2 text-sm">
      <div className="flex flex-wrap items-center gap-2">
        <p className="font-medium">{t('Variáveis')}</p>
        {used.length + others.length === 0 && <p className="text-muted">{t('nenhuma ainda')}</p>}
        {used.length + others.length > 0 && (
          <ul aria-label={t('Variáveis do prompt')} className="contents">
            {used.map((name) => (
              <li
                key={name}
                className="rounded bg-accent-soft px-2 py-0.5 font-mono break-all text-accent"
              >
                {name}
              </li>
            ))}
            {others.map((name) => (
              <li
                key={name}
                className="inline-flex items-center rounded border border-dashed border-line-strong pl-2"
              >
                <span>
                  <span className="font-mono break-all">{name}</span>{' '}
                  <span className="text-muted">{t('fora do texto')}</span>
                </span>
                <button
                  type="button"
                  aria-label={t('Remover a variável {name}', { name })}
                  onClick={() => onEdit({ extraVariables: extras.filter((each) => each !== name) })}
                  className="grid size-11 place-items-center text-muted hover:text-ink md:size-7"
                >
                  <X aria-hidden="true" className="size-3.5" />
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      {faulty && (
        <p role="status" className="font-medium text-warning">
          <Trans
            id="{span} não é uma variável e vai como está. Nomes têm até 40 letras sem acento, números ou _, sem espaços."
            values={{ span: <span className="font-mono break-all">{faulty.text}</span> }}
          />
        </p>
      )}
    </div>
  )
}

/** Ctrl+S or ⌘S, as in other editors. */
function submitByShortcut(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  event.currentTarget.form?.requestSubmit()
}
