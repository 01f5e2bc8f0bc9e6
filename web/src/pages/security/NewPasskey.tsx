import { useQueryClient } from '@tanstack/react-query'
import { useState, type SubmitEvent } from 'react'
import { explainError } from '../../api/explain-error.ts'
import { addPasskey } from '../../api/passkeys.ts'
import { Dialog } from '../../components/Dialog.tsx'
import { Field } from '../../components/Field.tsx'
import { FormEnd } from '../../components/FormEnd.tsx'
import { Input } from '../../components/Input.tsx'
import { useToast } from '../../components/Toast.tsx'
import { deviceWords } from './device-words.ts'
import { SECURITY } from './security-queries.ts'
import type { WithProof } from './use-proof.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

interface NewPasskeyProps {
  readonly isOpen: boolean
  readonly withProof: WithProof
  readonly onClose: () => void
}

export function NewPasskey({ isOpen, withProof, onClose }: NewPasskeyProps) {
  const [name, setName] = useState(() => deviceWords(navigator.userAgent))
  const queries = useQueryClient()
  const toast = useToast()
  const add = useSubmit({
    mutationFn: () => withProof(() => addPasskey(name.trim())),
    async onSuccess() {
      onClose()
      toast(t('Chave de acesso adicionada.'))
      await queries.invalidateQueries({ queryKey: SECURITY })
    },
  })
  const [fault, setFault] = useState<string>()

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    const wrong = name.trim() === '' ? t('Dê um nome, para saber depois qual é.') : undefined
    setFault(wrong)
    if (wrong === undefined && !add.isPending) add.mutate()
  }

  function close(): void {
    add.reset()
    onClose()
  }

  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={t('Nova chave de acesso')}
      description={t(
        'O navegador vai pedir sua digital, seu rosto ou um PIN. Com ela você entra sem senha nem código: crie só em dispositivos seus.',
      )}
    >
      <form onSubmit={submit} noValidate className="grid gap-4">
        <Field
          label={t('Nome')}
          hint={t('Do dispositivo, ou de onde ela fica guardada.')}
          error={fault}
        >
          {(control) => (
            <Input
              {...control}
              autoComplete="off"
              maxLength={60}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <FormEnd
          error={add.error ? explainError(add.error) : undefined}
          submitLabel={t('Criar chave de acesso')}
          isBusy={add.isPending}
          onCancel={close}
        />
      </form>
    </Dialog>
  )
}
