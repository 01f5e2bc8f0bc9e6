import { FileText, Pencil } from 'lucide-react'
import { useState } from 'react'
import type { UserTurn } from './conversation.ts'
import { TextEditor } from './TextEditor.tsx'
import { IconAction } from './IconAction.tsx'
import { t } from '../../language/t.ts'

interface Props {
  readonly turn: UserTurn
  /** Undefined while nothing can be sent. */
  readonly onSendInstead: ((text: string) => void) | undefined
}

export function UserMessage({ turn: { text, attachments = [] }, onSendInstead }: Props) {
  const [isEditing, setEditing] = useState(false)
  if (isEditing && onSendInstead)
    return (
      <TextEditor
        label={t('Sua mensagem')}
        text={text}
        submitLabel={t('Enviar de novo')}
        onCancel={() => setEditing(false)}
        onSubmit={(changed) => {
          setEditing(false)
          onSendInstead(changed)
        }}
      />
    )
  return (
    <div className="flex flex-col items-end gap-1">
      {attachments.length > 0 && (
        <ul aria-label={t('Anexos')} className="flex max-w-[85%] flex-wrap justify-end gap-2">
          {attachments.map(({ kind, name, content }, place) => (
            <li key={place}>
              {kind === 'image' ? (
                <img
                  src={content}
                  alt={name}
                  className="h-32 max-w-full rounded-lg border border-line bg-sunken object-contain"
                />
              ) : (
                <span className="flex items-center gap-2 rounded-lg border border-line px-3 py-2 text-sm wrap-anywhere">
                  <FileText aria-hidden="true" className="size-4 shrink-0 text-muted" />
                  {name}
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
      <p className="max-w-[85%] rounded-2xl rounded-br-sm bg-accent-soft px-4 py-2.5 wrap-anywhere whitespace-pre-wrap">
        <span className="sr-only">{t('Você: ')}</span>
        {text}
      </p>
      {onSendInstead && (
        <IconAction icon={Pencil} label={t('Editar mensagem')} onClick={() => setEditing(true)} />
      )}
    </div>
  )
}
