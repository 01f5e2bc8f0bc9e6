import type { ReactNode } from 'react'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { TextArea } from '../../components/TextArea.tsx'
import { BodyField } from './BodyField.tsx'
import { ChatModelSelect } from './ChatModelSelect.tsx'
import type { Draft, DraftFault } from './prompt-draft.ts'
import { DESCRIPTION_LENGTH_MAX, NAME_LENGTH_MAX } from './prompt-words.ts'
import { TagsField } from './TagsField.tsx'
import { t } from '../../language/t.ts'

interface Props {
  readonly draft: Draft
  readonly onEdit: (change: Partial<Draft>) => void
  readonly onSubmit: () => void
  readonly fault: DraftFault | undefined
  /** The end of the form: its error and buttons. */
  readonly children: ReactNode
}

/** The fields of a new or an existing prompt. */
export function PromptForm({ draft, onEdit, onSubmit, fault, children }: Props) {
  const errorOf = (field: DraftFault['field']) => (fault?.field === field ? fault.text : undefined)
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
      className="grid gap-5 rounded-card border border-line bg-surface p-5 shadow-card md:p-6"
    >
      <div className="grid gap-5 md:grid-cols-2">
        <Field label={t('Nome')} error={errorOf('name')}>
          {(control) => (
            <Input
              {...control}
              autoComplete="off"
              maxLength={NAME_LENGTH_MAX}
              placeholder={t('Resposta a cliente')}
              value={draft.name}
              onChange={(event) => onEdit({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label={t('Modelo padrão')}>
          {(control) => (
            <ChatModelSelect
              control={control}
              value={draft.defaultModel}
              emptyText={t('Nenhum: escolher a cada execução')}
              onChange={(defaultModel) => onEdit({ defaultModel })}
            />
          )}
        </Field>
      </div>
      <BodyField draft={draft} onEdit={onEdit} error={errorOf('body')} />
      <div className="grid gap-5 md:grid-cols-2">
        <Field
          label={t('Limite da resposta, em tokens')}
          hint={t('Quando é chamado pela API como modelo. Vazio: o da chamada.')}
          error={errorOf('maxTokens')}
        >
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              autoComplete="off"
              value={draft.maxTokens}
              onChange={(event) => onEdit({ maxTokens: event.target.value })}
            />
          )}
        </Field>
        <Field
          label={t('Temperatura padrão')}
          hint={t('De 0 a 2. Vazio: a da chamada.')}
          error={errorOf('temperature')}
        >
          {(control) => (
            <Input
              {...control}
              inputMode="decimal"
              autoComplete="off"
              value={draft.temperature}
              onChange={(event) => onEdit({ temperature: event.target.value })}
            />
          )}
        </Field>
      </div>
      <div className="grid gap-5 md:grid-cols-2">
        <Field label={t('Descrição (opcional)')}>
          {(control) => (
            <TextArea
              {...control}
              rows={2}
              maxLength={DESCRIPTION_LENGTH_MAX}
              value={draft.description}
              onChange={(event) => onEdit({ description: event.target.value })}
              className="max-h-60"
            />
          )}
        </Field>
        <TagsField value={draft.tags} onChange={(tags) => onEdit({ tags })} />
      </div>
      {children}
    </form>
  )
}
