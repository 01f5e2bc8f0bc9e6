import { X } from 'lucide-react'
import { useState } from 'react'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { TAG_LENGTH_MAX, TAGS_MAX } from './prompt-words.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly value: readonly string[]
  readonly onChange: (tags: readonly string[]) => void
}

export function TagsField({ value, onChange }: Props) {
  const [text, setText] = useState('')
  const isFull = value.length >= TAGS_MAX
  const add = (): void => {
    setText('')
    const added = text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '')
    const tags = [...new Set([...value, ...added])].slice(0, TAGS_MAX)
    if (tags.length > value.length) onChange(tags)
  }
  return (
    <div className="grid content-start gap-2">
      <Field
        label={t('Tags (opcional)')}
        hint={
          isFull
            ? t('São no máximo {tagsMax}.', { tagsMax: TAGS_MAX })
            : t('Enter ou vírgula inclui.')
        }
      >
        {(control) => (
          <Input
            {...control}
            autoComplete="off"
            maxLength={TAG_LENGTH_MAX}
            placeholder={t('atendimento')}
            disabled={isFull}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onBlur={add}
            onKeyDown={(event) => {
              if (event.nativeEvent.isComposing) return
              if (event.key === 'Enter' || event.key === ',') {
                event.preventDefault()
                add()
              } else if (event.key === 'Backspace' && text === '' && value.length > 0) {
                onChange(value.slice(0, -1))
              }
            }}
          />
        )}
      </Field>
      {value.length > 0 && (
        <ul aria-label={t('Tags do prompt')} className="flex flex-wrap gap-2">
          {value.map((tag) => (
            <li
              key={tag}
              className="inline-flex items-center rounded-full bg-accent-soft pl-3 text-sm font-medium text-accent"
            >
              <span className="break-all">{tag}</span>
              <button
                type="button"
                aria-label={t('Remover a tag {tag}', { tag })}
                onClick={() => onChange(value.filter((each) => each !== tag))}
                className="grid size-11 place-items-center rounded-full hover:text-accent-strong md:size-8"
              >
                <X aria-hidden="true" className="size-3.5" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
