import type { Company } from './company.ts'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'

const termsOfUse20261123: WriteDocument = ({ name, contactEmail }) => ({
  title: 'Termos de uso',
  sections: [
    {
      title: '1. Quem oferece o serviço e quem pode usar',
      paragraphs: [
        `O serviço é oferecido por ${name}, identificada no fim desta página. Ele dá acesso a modelos de inteligência artificial de terceiros, por API e por um painel, mediante saldo pré-pago em reais.`,
        'Só pode criar uma conta quem tem 18 anos ou mais, ou quem contrata em nome de uma empresa. O serviço não é dirigido a crianças e adolescentes (Lei 15.211/2025, ECA Digital). Quem integra o serviço a um produto acessível a menores responde pelos controles que a lei exige nesse produto.',
      ],
    },
    {
      title: '2. Saldo e preços',
      paragraphs: [
        'Você paga antes e usa o saldo. Não há mensalidade, o saldo pago não expira e, sem saldo, as chamadas são recusadas.',
        'Cada chamada custa o preço do modelo em dólares, vezes a taxa de câmbio PTAX de venda em vigor, vezes o multiplicador do modelo. Preços, taxas e multiplicadores são públicos no catálogo, e cada cobrança mostra a própria conta. Estimativas em reais mudam com o câmbio.',
        'Antes da chamada, o custo máximo é reservado no saldo; depois, só o custo real é cobrado e o resto é liberado. Um modelo que informa mais consumo do que o limite pode deixar o saldo negativo.',
        'Uma chamada que falha antes da resposta não é cobrada. Se você interrompe uma resposta que já começou, ou um modelo que está raciocinando, paga o que o modelo gerou; se interrompe antes disso, paga o texto enviado.',
        'Um aumento de multiplicador é avisado com antecedência, por e-mail, a quem usou o modelo nos últimos 90 dias.',
      ],
    },
    {
      title: '3. Arrependimento e reembolso',
      paragraphs: [
        'Em até 7 dias de cada recarga você pode desistir dela, no próprio painel e sem custo: o que não foi gasto volta pela mesma forma de pagamento (Código de Defesa do Consumidor, art. 49).',
        'Depois dos 7 dias, o que você pagou e não gastou pode ser reembolsado a pedido, com o valor mínimo mostrado no painel. Crédito promocional não é reembolsado.',
      ],
    },
    {
      title: '4. Suas chaves e seu uso',
      paragraphs: [
        'Quem tem uma chave sua gasta o seu saldo: guarde as chaves em segredo e revogue as que vazarem. Limites por chave, por equipe e por endereço ajudam a conter perdas.',
        'É proibido usar o serviço para violar a lei ou direitos de outras pessoas, para produzir material de abuso sexual infantil, para atacar sistemas, ou contra as regras de uso do provedor do modelo escolhido. A conta pode ser suspensa nesses casos e no de pagamento contestado; o saldo pago e não gasto continua sendo seu.',
        'As respostas são geradas por modelos e podem conter erros. Confira-as antes de decidir algo com base nelas.',
      ],
    },
    {
      title: '5. Disponibilidade e mudanças',
      paragraphs: [
        'O serviço depende de provedores de modelos e pode ficar indisponível; incidentes são publicados na página de status. Modelos podem sair do catálogo quando o provedor os encerra.',
        'Quando estes termos mudam, a versão nova é publicada aqui e pedimos o seu aceite no painel. As versões anteriores continuam disponíveis pela data.',
      ],
    },
    {
      title: '6. Contato, lei e foro',
      paragraphs: [
        `Dúvidas e reclamações: ${contactEmail}. Respondemos em até cinco dias.`,
        'Vale a lei brasileira. O consumidor pode demandar no foro do seu domicílio.',
      ],
    },
  ],
})

const privacyPolicy20261123: WriteDocument = ({ name, contactEmail }) => ({
  title: 'Política de privacidade',
  sections: [
    {
      title: '1. Quem trata os seus dados',
      paragraphs: [
        `${name} é a controladora dos dados da sua conta (Lei 13.709/2018, LGPD). Canal do titular e do encarregado: ${contactEmail}.`,
        'Quando você envia dados de outras pessoas em chamadas a modelos, o controlador desses dados é você, e nós os tratamos como operadora, só para atender a chamada.',
      ],
    },
    {
      title: '2. Que dados, e para quê',
      paragraphs: [
        'Cadastro (nome, e-mail, CPF ou CNPJ, telefone e endereço, se informados): para executar o contrato, cobrar e cumprir obrigações fiscais.',
        'Pagamentos: o processador de pagamentos recebe os dados da cobrança. O número do cartão não fica conosco; guardamos a bandeira, os quatro últimos dígitos, o nome do titular e a validade.',
        'Uso: modelo, horário, chave, quantidades (tokens, segundos, imagens), custo, endereço IP e registros de acesso: para cobrar, prestar contas, evitar fraudes e cumprir o Marco Civil da Internet (Lei 12.965/2014, art. 15).',
        'O conteúdo de conversas, imagens e áudios enviado aos modelos não é guardado por nós depois da resposta, nem usado para treinar modelos por nós. São exceções o que você mesmo salva (prompts), as respostas que você pedir no Perfil que sejam guardadas, cifradas e por até 30 dias, e as imagens geradas que a resposta entrega por link, que ficam disponíveis por pouco tempo.',
        'O site e o painel usam apenas cookies necessários para entrar, proteger a conta e lembrar o idioma.',
      ],
    },
    {
      title: '3. Para onde vai o conteúdo: transferência internacional',
      paragraphs: [
        'Para responder, o conteúdo de cada chamada é enviado ao provedor do modelo que você escolheu, e a outros provedores do mesmo modelo se o primeiro falhar. Muitos deles ficam fora do Brasil, principalmente nos Estados Unidos, na União Europeia e na Ásia. O catálogo mostra quem faz cada modelo.',
        'A finalidade é executar o contrato a seu pedido. Cada provedor trata o conteúdo conforme as próprias regras e pode guardá-lo por um prazo para evitar abusos. As transferências seguem a LGPD (arts. 33 a 36) e a Resolução CD/ANPD 19/2024; as cláusulas aplicáveis são fornecidas a pedido em até 15 dias, pelo contato acima.',
        'Não envie dados pessoais sensíveis ou segredos de que o modelo não precisa.',
      ],
    },
    {
      title: '4. Por quanto tempo',
      paragraphs: [
        'Dados da conta ficam enquanto ela existe. Depois da exclusão, apagamos os dados pessoais e conservamos, sem o seu nome, os registros de cobranças e de atos que a lei manda guardar. Registros de acesso ficam por ao menos seis meses, e registros fiscais por ao menos cinco anos.',
      ],
    },
    {
      title: '5. Seus direitos',
      paragraphs: [
        'No painel você vê e corrige os seus dados, baixa uma cópia completa e exclui a conta (LGPD, art. 18). Outros pedidos, como informação sobre compartilhamento: pelo contato acima, com resposta em até 15 dias. Você também pode reclamar à ANPD.',
      ],
    },
    {
      title: '6. Segurança e menores de idade',
      paragraphs: [
        'Senhas e chaves são guardadas só como resumos criptográficos, e segredos são cifrados. Incidentes que possam causar risco ou dano relevante são comunicados à ANPD e a você.',
        'O serviço não é dirigido a menores de 18 anos, e não tratamos conscientemente dados deles como clientes (Lei 15.211/2025).',
      ],
    },
  ],
})

export interface LegalVersion {
  readonly terms: WriteDocument
  readonly privacy: WriteDocument
}

/**
 * The versions of both documents by the day on which they took effect. A text that customers have accepted is never
 * changed: another text is another version.
 */
export const LEGAL_VERSIONS: Readonly<Record<string, LegalVersion>> = {
  '2026-11-23': { terms: termsOfUse20261123, privacy: privacyPolicy20261123 },
}

export const CURRENT_LEGAL_VERSION = '2026-11-23'

export interface LegalDocument {
  readonly title: string
  readonly sections: readonly Section[]
}

interface Section {
  readonly title: string
  readonly paragraphs: readonly string[]
}

type WriteDocument = (company: Company) => LegalDocument

/**
 * Stores that a customer accepted the terms of use and the privacy policy of this version, and is of age or a business.
 * Returns false if it is not the current version. Accepting again changes nothing.
 */
export async function acceptTerms(
  db: Database,
  actor: Actor,
  { customerId, version }: { readonly customerId: string; readonly version: string },
): Promise<boolean> {
  if (version !== CURRENT_LEGAL_VERSION) return false
  await audited(db, actor, async (trx, record) => {
    const { numUpdatedRows } = await trx
      .updateTable('customers')
      .set({ accepted_terms: version })
      .where('id', '=', customerId)
      .where((eb) => eb('accepted_terms', 'is distinct from', version))
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return
    const details = { version, documents: ['terms', 'privacy'], is_adult_or_business: true }
    await record({ action: 'terms.accepted', customerId, subjectId: customerId, details })
  })
  return true
}

export async function hasAcceptedTerms(db: Database, customerId: string): Promise<boolean> {
  const row = await db
    .selectFrom('customers')
    .select('accepted_terms')
    .where('id', '=', customerId)
    .executeTakeFirst()
  return row?.accepted_terms === CURRENT_LEGAL_VERSION
}
