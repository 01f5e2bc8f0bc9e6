/**
 * The steps from an empty account to the first answer of a model; the API's data ticks them off. Hidden once
 * all are done.
 */
import { Card } from '../../components/Card.tsx'
import { FirstRequest } from './FirstRequest.tsx'
import { GuideStep } from './GuideStep.tsx'
import type { FirstSteps } from './use-first-steps.ts'

export function FirstRunGuide({ steps }: { steps: FirstSteps }) {
  const { hasProfile, hasPaid, hasKey, hasCalled } = steps
  const done = [hasProfile, hasPaid, hasKey, hasCalled]
  const doneCount = done.filter(Boolean).length
  if (doneCount === done.length) return null
  const next = done.indexOf(false)

  return (
    <Card
      title="Do zero à primeira resposta"
      description={
        <span role="status">
          {doneCount} de {done.length} passos feitos
        </span>
      }
    >
      <ol className="flex flex-col">
        <GuideStep
          isDone={hasProfile}
          isNext={next === 0}
          title="Complete seu perfil"
          text="Nome e CPF ou CNPJ de quem paga: o Pix precisa deles."
          to="/perfil"
          action="Completar perfil"
        />
        <GuideStep
          isDone={hasPaid}
          isNext={next === 1}
          title="Recarregue com Pix"
          text="A partir de R$ 20. Cai em segundos, e o que você não usar pode ser devolvido em até 7 dias."
          to="/recargas"
          action="Recarregar"
        />
        <GuideStep
          isDone={hasKey}
          isNext={next === 2}
          title="Crie uma chave"
          text="Com um limite em cada chave, um erro no código não gasta mais do que você permitir."
          to="/chaves"
          action="Criar chave"
        />
        <GuideStep
          isDone={hasCalled}
          isNext={next === 3}
          title="Faça a primeira chamada"
          text="Do seu código ou do terminal. Funciona com a biblioteca da OpenAI: só muda o endereço."
        >
          <FirstRequest />
        </GuideStep>
      </ol>
    </Card>
  )
}
